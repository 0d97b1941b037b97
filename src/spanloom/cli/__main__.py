"""`python -m spanloom.cli`."""

from spanloom.cli.app import main

if __name__ == "__main__":
    main()
