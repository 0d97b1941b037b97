"""Hostile campaigns: many seeded attempts to break a promise, counted by what came of each.

A section is a function ``run(cases, seed, folder) -> Record`` in a module here, and a line in `frame.SECTIONS`:

    python tests/hostile/campaign SECTION [--count N] [--seed S] [--only CASE]

Every case draws from a generator of its own (`frame.generator`), so a single one can be run again. The short forms are
tests (`test_campaign.py`), the long ones a benchmark (`benchmarks/hostile.py`).
"""
