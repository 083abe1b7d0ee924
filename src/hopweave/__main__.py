"""`python -m hopweave` is the command `hopweave`."""

import sys

from hopweave.cli import main

if __name__ == "__main__":
    sys.exit(main())
