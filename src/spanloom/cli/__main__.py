"""`python -m spanloom.cli`."""

from spanloom.cli import main

if __name__ == "__main__":
    main()
