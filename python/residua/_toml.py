"""TOML as the spec's reader takes it; Python reads TOML and does not write it."""

from __future__ import annotations

import datetime
import json
import numbers
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from residua._residua import Error

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def key(name: str) -> str:
    return name if _BARE_KEY.match(name) else string(name)


def string(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value(item: Any, where: str) -> str:
    """One value on one line; `where` names it in messages."""
    if isinstance(item, str):
        return string(item)
    if isinstance(item, bool) or type(item).__name__ == "bool":
        return "true" if item else "false"
    if isinstance(item, numbers.Integral):
        return str(int(item))
    if isinstance(item, Fraction | Decimal):
        return string(str(item))
    if isinstance(item, numbers.Real):
        return repr(float(item))
    if isinstance(item, datetime.date):
        return string(str(item))
    if isinstance(item, Mapping):
        pairs = (f"{key(str(name))} = {value(inner, where)}" for name, inner in item.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(item, Sequence) or hasattr(item, "tolist"):
        items = item.tolist() if hasattr(item, "tolist") else item
        return "[" + ", ".join(value(inner, where) for inner in items) + "]"
    raise Error(f"{where}: {item!r} is of type {type(item).__name__}; give text, a number, a list or a table of them")


def document(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The sections [data], [privacy], [attributes.NAME], [workload], those that hold something."""
    lines: list[str] = []

    def section(name: str, entries: Mapping[str, Any]) -> None:
        lines.append(f"[{name}]")
        lines.extend(f"{key(k)} = {value(v, f'{name}.{k}')}" for k, v in entries.items())
        lines.append("")

    for table in ("data", "privacy"):
        if tables.get(table):
            section(table, tables[table])
    for name, attribute in tables.get("attributes", {}).items():
        section(f"attributes.{key(name)}", attribute)
    if tables.get("workload"):
        section("workload", tables["workload"])
    return "\n".join(lines)
