"""Small tables for notebooks. Nothing in them is read from private data."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

_MOST_ROWS = 30


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    listed = list(rows)
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_text(item))}</td>" for item in row) + "</tr>"
        for row in listed[:_MOST_ROWS]
    )
    if len(listed) > _MOST_ROWS:
        rest = f"and {len(listed) - _MOST_ROWS:,} more"
        body += f'<tr><td colspan="{len(header)}">{rest}</td></tr>'
    head = f"<thead><tr>{cells}</tr></thead>" if header else ""
    return f"<div><b>{html.escape(title)}</b><table>{head}<tbody>{body}</tbody></table></div>"


def _text(item: Any) -> str:
    return f"{item:.6g}" if isinstance(item, float) else str(item)
