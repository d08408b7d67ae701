"""A spec as TOML, for the command line: Python reads TOML and does not write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def key(name: str) -> str:
    return name if _BARE_KEY.match(name) else string(name)


def string(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(item: Any) -> str:
    """One value on one line, of the types that :func:`residua._plain.plain` returns."""
    if isinstance(item, str):
        return string(item)
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int | float):
        return repr(item)
    if isinstance(item, Mapping):
        pairs = (f"{key(name)} = {value(inner)}" for name, inner in item.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(item, list | np.ndarray):
        return "[" + ", ".join(map(value, item if isinstance(item, list) else item.tolist())) + "]"
    raise TypeError(f"TOML has no {type(item).__name__}")


def document(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The sections [data], [privacy], [attributes.NAME], [workload], those that hold something."""
    lines: list[str] = []

    def section(name: str, entries: Mapping[str, Any]) -> None:
        lines.append(f"[{name}]")
        lines.extend(f"{key(k)} = {value(v)}" for k, v in entries.items())
        lines.append("")

    for table in ("data", "privacy"):
        if tables.get(table):
            section(table, tables[table])
    for name, attribute in tables.get("attributes", {}).items():
        section(f"attributes.{key(name)}", attribute)
    if tables.get("workload"):
        section("workload", tables["workload"])
    return "\n".join(lines)
