"""A spec: what to release, of what data, at what cost. The command line's own file."""

from __future__ import annotations

import contextlib
import copy
import os
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from residua import _residua, _toml
from residua._attributes import Attribute, Domain

Number = int | float | str | Fraction | Decimal
Tables = Iterable[Iterable[str]] | Mapping[tuple[str, ...], float]

_BUDGETS = ("pcost", "rho", "mu", "epsilon", "max_std_dev", "target_loss")
_PRIVACY = (*_BUDGETS, "delta", "neighbours", "identifier", "max_rows")
_WORKLOAD = ("marginals", "tables", "objective", "weights")
_DATA = ("source", "database", "query", "ledger")


def _listed(tables: Tables) -> list[Any]:
    if isinstance(tables, Mapping):
        return [{"attributes": list(names), "weight": weight} for names, weight in tables.items()]
    return [[names] if isinstance(names, str) else list(names) for names in tables]


class Spec:
    """What to release, of what data, at what cost.

    `domain` is a :class:`Domain`. What is asked: `marginals` such as ``"<=2"`` (all tables of up to
    two columns), ``2`` or ``"cells<=5000"``, and `tables`, lists of columns, or a dictionary of them
    with weights. At what cost: one of `rho`, `epsilon` with `delta`, `mu`, `pcost`; or `max_std_dev`
    or `target_loss` for the least budget that is this accurate. ``"1/3"`` and Fractions are taken
    exactly. `objective`: "sum-variance", "max-variance" or "p-norm=P"; `weights`: "cells",
    "sqrt-cells" or "equal". `neighbours`: "add-remove" or "replace-one"; `identifier` and
    `max_rows`, where a person can have several rows. `source`, or `database` with `query`, and
    `ledger`: where the data and its ledger are.

    >>> import residua as rs
    >>> people = rs.Domain(age=rs.integers(0, 99), sex=["female", "male"])
    >>> spec = rs.Spec(people, marginals="<=2", rho=0.5)
    >>> print(spec.text)
    [privacy]
    rho = 0.5
    <BLANKLINE>
    [attributes.age]
    integers = [0, 99]
    <BLANKLINE>
    [attributes.sex]
    values = ["female", "male"]
    <BLANKLINE>
    [workload]
    marginals = "<=2"
    <BLANKLINE>
    """

    def __init__(
        self,
        domain: Domain,
        *,
        marginals: str | int | None = None,
        tables: Tables | None = None,
        objective: str | None = None,
        weights: str | None = None,
        pcost: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        max_std_dev: Number | None = None,
        target_loss: Number | None = None,
        neighbours: str | None = None,
        identifier: str | None = None,
        max_rows: int | None = None,
        source: str | os.PathLike[str] | None = None,
        database: str | os.PathLike[str] | None = None,
        query: str | None = None,
        ledger: str | os.PathLike[str] | None = None,
    ) -> None:
        given = dict(locals())
        if not isinstance(domain, Domain):
            raise _residua.Error(
                f"a spec begins with a residua.Domain, not with {type(domain).__name__}"
            )
        self._document: dict[str, dict[str, Any]] = {
            "data": {},
            "privacy": {},
            "attributes": {name: dict(a.entries) for name, a in domain.items()},
            "workload": {},
        }
        self.folder = Path.cwd()
        self._file: Path | None = None
        self._original = ""
        self._change(given)
        self._check()

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a spec file (TOML), checked as the command line checks it.

        >>> import residua as rs, pathlib
        >>> _ = pathlib.Path("sexes.toml").write_text('''
        ... [attributes.sex]
        ... values = ["female", "male"]
        ... [workload]
        ... marginals = 1
        ... ''')
        >>> rs.Spec.read("sexes.toml").tables
        [('sex',)]
        """
        spec = cls.__new__(cls)
        file = Path(path)
        try:
            spec._original = file.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise _residua.Error(f"{file}: no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise _residua.Error(f"{file}: cannot be read: {error}") from None
        spec.folder = file.parent.absolute()
        spec._file = file
        _residua.DescribedSpec(spec._original, str(file), True).check()
        spec._document = {
            table: dict(entries) for table, entries in tomllib.loads(spec._original).items()
        }
        return spec

    def _change(self, given: Mapping[str, Any]) -> None:
        sections = {"privacy": _PRIVACY, "workload": _WORKLOAD, "data": _DATA}
        if any(given.get(name) is not None for name in _BUDGETS):
            for name in _BUDGETS:
                self._document.setdefault("privacy", {}).pop(name, None)
        for section, names in sections.items():
            for name in names:
                if (item := given.get(name)) is None:
                    continue
                if name == "tables":
                    item = _listed(item)
                elif isinstance(item, os.PathLike):
                    item = os.fspath(item)
                self._document.setdefault(section, {})[name] = item
                self._file = None

    def replace(self, **changes: Any) -> Self:
        """A copy with other arguments; a budget takes the place of the one before.

        >>> import residua as rs
        >>> spec = rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=0.5)
        >>> "mu = 2" in spec.replace(mu=2).text
        True
        """
        unknown = set(changes) - {*_PRIVACY, *_WORKLOAD, *_DATA}
        if unknown:
            raise TypeError(f"a spec has no {', '.join(sorted(unknown))}")
        changed = copy.copy(self)
        changed._document = {table: dict(entries) for table, entries in self._document.items()}
        changed._change(changes)
        changed._check()
        return changed

    @property
    def domain(self) -> Domain:
        """The columns.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1).domain
        Domain(sex: 2)
        """
        return Domain({name: Attribute(a) for name, a in self._document["attributes"].items()})

    @property
    def tables(self) -> list[tuple[str, ...]]:
        """The tables asked for, smaller ones first: the order that a `loss` sees them in.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(a=2, b=3), marginals="<=2").tables
        [(), ('a',), ('b',), ('a', 'b')]
        """
        with self._described() as described:
            return [tuple(names) for names in described.tables()]

    @property
    def text(self) -> str:
        """The spec as TOML.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(sex=["female", "male"])).text
        '[attributes.sex]\\nvalues = ["female", "male"]\\n'
        """
        return self._original if self._file else _toml.document(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a spec file for the command line; matrices go into files beside it.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=1).save("spec.toml")
        >>> rs.plan("spec.toml").privacy.budget_pcost
        Fraction(2, 1)
        """
        file = Path(path)
        document = self._rebased(Path(os.path.relpath(self.folder, file.parent.absolute())))
        _write_matrices(document, file.parent, file.stem + ".")
        try:
            file.write_text(_toml.document(document), encoding="utf-8")
        except OSError as error:
            raise _residua.Error(f"{file}: cannot be written: {error.strerror}") from None

    def _rebased(self, folder: Path) -> dict[str, dict[str, Any]]:
        """The document with paths that led from the spec's folder now leading through `folder`."""
        document = copy.deepcopy(self._document)
        data = document.get("data", {})
        for name in ("source", "database", "ledger"):
            if name in data:
                data[name] = os.path.normpath(folder / data[name])
        for attribute in document["attributes"].values():
            for name, matrix in attribute.get("custom", {}).items():
                if isinstance(matrix, str):
                    attribute["custom"][name] = os.path.normpath(folder / matrix)
        return document

    def _check(self) -> None:
        with self._described() as described:
            described.check()

    @contextlib.contextmanager
    def _described(self) -> Iterator[_residua.DescribedSpec]:
        """The spec for the library, which reads matrices from files."""
        if self._file:
            yield _residua.DescribedSpec(self._original, str(self._file), True)
            return
        with tempfile.TemporaryDirectory() as folder:
            document = copy.deepcopy(self._document)
            for attribute in document["attributes"].values():
                for name, matrix in attribute.get("custom", {}).items():
                    if isinstance(matrix, str):
                        attribute["custom"][name] = str(self.folder / matrix)
            _write_matrices(document, Path(folder), "")
            text = _toml.document(document)
            yield _residua.DescribedSpec(text, str(Path(folder, "spec")), False)


def _write_matrices(document: Mapping[str, Any], folder: Path, prefix: str) -> None:
    """Puts the attributes' matrices into files, and the files' names in their places."""
    for number, attribute in enumerate(document["attributes"].values()):
        for name, matrix in attribute.get("custom", {}).items():
            if not isinstance(matrix, str):
                file = f"{prefix}{number}.{name}.csv"
                np.savetxt(folder / file, matrix, delimiter=",", fmt="%.17g")
                attribute["custom"][name] = file
