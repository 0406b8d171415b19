"""``python -m adcompiler``: the same as the command ``adcompiler``."""

import sys

from adcompiler.cli import main

sys.exit(main())
