"""The command line: ``residua``, or ``python -m residua``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Becomes the program that comes with the package."""
    program = Path(__file__).parent / "_bin" / "residua"
    os.execv(program, ["residua", *sys.argv[1:]])


if __name__ == "__main__":
    main()
