"""`python -m spanloom.cli`."""

from spanloom.cli.app import main

main()
