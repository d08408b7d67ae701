"""The page of a release."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from residua import _residua
from residua._plain import place
from residua._spec import Spec

if TYPE_CHECKING:
    from residua._release import Release

# Beyond this no browser opens a page.
_MOST_PAGE_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Page:
    """A page that was written: its file, its size, the number of tables that it can show, and the
    names of those that did not fit, the largest first. Made by :meth:`Release.page`.

    >>> example_release().page("people.html").num_tables
    4
    """

    path: Path
    num_bytes: int
    num_tables: int
    left_out: list[str]


def write_page(
    release: Release,
    path: str,
    spec: Spec | str | os.PathLike[str] | None,
    max_bytes: int,
    confidence: float,
) -> Page:
    """As :meth:`Release.page`, without its warning."""
    output = Path(path)
    if not 0 < max_bytes <= _MOST_PAGE_BYTES:
        raise _residua.InputError(
            f"max_bytes is {max_bytes}; it must be above 0 and at most {_MOST_PAGE_BYTES}"
        )
    _residua.quantile(confidence)
    if spec is not None and not isinstance(spec, Spec):
        spec = Spec.read(place(spec, "spec"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "release.parquet")
        release.save(file)
        told = release._release.page(
            file, output, spec._spec if spec else None, max_bytes, confidence
        )
    return Page(output, *told)
