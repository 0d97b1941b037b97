"""Atomic output: files and folders are written completely or not at all, whatever interrupts."""

STDIO = "-"  # the path that means standard input or output
