"""Completes the types of a stub that nanobind made, in place: it writes bare lists, dictionaries, tuples and paths, which
strict checkers do not take for whole types."""

import re
import sys
from pathlib import Path

WHOLE = {"list": "list[Any]", "dict": "dict[Any, Any]", "tuple": "tuple[Any, ...]", "os.PathLike": "os.PathLike[str]"}

file = Path(sys.argv[1])
text = file.read_text(encoding="utf-8")
signature = re.compile(r"^ *(?:def |\w+: ).*$", re.M)
bare = re.compile(r"(?<![\w.])(list|dict|tuple|os\.PathLike)(?![\w\[(])")
text = signature.sub(lambda line: bare.sub(lambda name: WHOLE[name[1]], line[0]), text)
if "from typing import Any\n" not in text:
    text = text.replace("import os\n", "import os\nfrom typing import Any\n", 1)
file.write_text(text, encoding="utf-8")
