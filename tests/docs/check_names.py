#!/usr/bin/env python3
"""Every file that a page of the documentation names is where it says, and every type and function exists.
Usage: check_names.py SOURCE_FOLDER"""

import re
import sys
from pathlib import Path

FILE = re.compile(r"`((?:[\w.-]+/)+[a-z][\w.-]*\.(?:cc|h|py|sh|ts|js|md|toml|tsv))`")
NAME = re.compile(r"`((?:[A-Za-z]\w*::)*[A-Z]+[a-z]+[A-Z]\w*)(?:\(\))?`")
FOLDERS = ("", "residua", "docs", "web")  # that pages leave out
# Words of the style itself.
EXAMPLES = {"PascalCase"}


def words_of_code(root):
    words = set()
    for folder in ("residua", "cli", "python", "web/src", "web/core", "tests", "bench"):
        for path in (root / folder).rglob("*"):
            if path.suffix in (".cc", ".h", ".py", ".ts", ".txt"):
                words.update(re.findall(r"\w+", path.read_text(encoding="utf-8", errors="ignore")))
    return words


def problems_of(page, text, root, words):
    for file in sorted(set(FILE.findall(text))):
        if not any((root / folder / file).exists() for folder in FOLDERS):
            yield f"{page}: there is no file {file}"
    for name in sorted(set(NAME.findall(text)) - EXAMPLES):
        if not all(part in words for part in name.split("::")):
            yield f"{page}: no code has {name}"


def main():
    root = Path(sys.argv[1])
    words = words_of_code(root)
    planted = "`select/no_such_file.h` and `SelectRequest`, `NoSuch" + "Type`"
    assert len(list(problems_of("planted", planted, root, words))) == 2, "the check finds nothing"
    pages = sorted((root / "docs").glob("*.md")) + [root / "README.md", root / "CONTRIBUTING.md"]
    problems = [p for page in pages
                for p in problems_of(page.relative_to(root), page.read_text(encoding="utf-8"), root, words)]
    for problem in problems:
        print(problem)
    print(f"{len(pages)} pages, {len(problems)} problems")
    sys.exit(bool(problems))


main()
