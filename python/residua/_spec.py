"""A spec: what to release, from which data, at what cost. The command line reads the same file."""

from __future__ import annotations

import copy
import os
import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from residua import _residua, _toml
from residua._attributes import Attribute, Domain
from residua._plain import plain

Number = int | float | str | Fraction | Decimal
Tables = Iterable[Iterable[str]] | Mapping[tuple[str, ...], float]

_BUDGETS = ("pcost", "rho", "mu", "epsilon", "max_std_dev", "target_loss")
# The sections of a spec file that hold the arguments of Spec.
_SECTIONS = {
    "data": ("source", "database", "query", "ledger", "null_values"),
    "privacy": (*_BUDGETS, "delta", "neighbours", "identifier", "max_rows"),
    "workload": ("marginals", "tables", "objective", "weights"),
}


def _listed(tables: Tables) -> list[Any]:
    if isinstance(tables, Mapping):
        return [{"attributes": _names(names), "weight": tables[names]} for names in tables]
    return [_names(names) for names in tables]


def _names(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


class Spec:
    """What to release, from which data, at what cost.

    `domain` is a :class:`Domain`.

    The tables: `marginals` is ``"<=2"`` (all tables of up to two columns), ``2`` (all tables of
    two) or ``"cells<=5000"``. `tables` adds lists of columns, or a dictionary that gives each such
    tuple a weight.

    The cost: one of `rho`, `epsilon` with `delta`, `mu` and `pcost`; or `max_std_dev` or
    `target_loss`, for the smallest budget that is this accurate. ``"1/3"`` and Fractions are exact.
    `objective` is "sum-variance", "max-variance" or "p-norm=P"; `weights` is "cells", "sqrt-cells"
    or "equal". `neighbours` is "add-remove" or "replace-one". Where a person can have several rows,
    `identifier` is the column that says whose row it is, and at most `max_rows` of each count.

    The data: `source`, which may have a `query` on the table "data" that it is, or `database` with
    `query`; and its `ledger`. `null_values` are texts that mean a missing value, in every column.

    An error names the argument, such as ``rho`` or ``domain['age'].queries``.

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
        null_values: Iterable[str] | None = None,
    ) -> None:
        given = dict(locals())
        if not isinstance(domain, Domain):
            raise _residua.Error(
                f"domain: expected a residua.Domain, found {type(domain).__name__}"
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
        self._described = _residua.spec_of_domain(self._document["attributes"])
        self._spec = self._described
        self._change(given)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Reads a spec file (TOML) and checks it as the command line does.

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
            spec._original = file.read_bytes().decode("utf-8")
        except FileNotFoundError:
            raise _residua.Error(f"{file}: no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise _residua.Error(f"{file}: cannot be read: {error}") from None
        spec.folder = file.parent.absolute()
        spec._file = file
        spec._described = spec._spec = _residua.parse_spec(spec._original, str(file))
        spec._document = tomllib.loads(spec._original.removeprefix("\ufeff"))
        for name, matrices in spec._spec.matrices().items():
            spec._document["attributes"][name]["custom"] = matrices
        return spec

    def _change(self, given: Mapping[str, Any]) -> None:
        changes = {name: item for name, item in given.items() if item is not None}
        if any(name in changes for name in _BUDGETS):
            for name in _BUDGETS:
                self._document.get("privacy", {}).pop(name, None)
        settings: dict[str, Any] = {}
        for section, names in _SECTIONS.items():
            entries = self._document.setdefault(section, {})
            for name in names:
                if name in changes:
                    item = changes[name]
                    if name == "tables":
                        item = _listed(item)
                    elif isinstance(item, os.PathLike):
                        item = os.fspath(item)
                    entries[name] = plain(item)
                    self._file = None
                if name in entries:
                    settings[name] = entries[name]
        if not self._file:
            self._spec = self._described.with_settings(settings)

    def replace(self, **changes: Any) -> Self:
        """A copy with other arguments. A new budget replaces the old one.

        >>> import residua as rs
        >>> spec = rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=0.5)
        >>> "mu = 2" in spec.replace(mu=2).text
        True
        """
        unknown = set(changes).difference(*_SECTIONS.values())
        if unknown:
            raise TypeError(f"a spec has no {', '.join(sorted(unknown))}")
        changed = copy.copy(self)
        changed._document = {table: dict(entries) for table, entries in self._document.items()}
        changed._change(changes)
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
        """The tables to release, smaller ones first. A `loss` gets them in this order.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(a=2, b=3), marginals="<=2").tables
        [(), ('a',), ('b',), ('a', 'b')]
        """
        return [tuple(names) for names in self._spec.tables()]

    @property
    def text(self) -> str:
        """The spec as TOML.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(sex=["female", "male"])).text
        '[attributes.sex]\\nvalues = ["female", "male"]\\n'
        """
        return self._original if self._file else _toml.document(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a spec file for the command line. Matrices go into files beside it.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=1).save("spec.toml")
        >>> rs.plan("spec.toml").privacy.budget_pcost
        Fraction(2, 1)
        """
        file = Path(path)
        folder = Path(os.path.relpath(self.folder, file.parent.absolute()))
        document = copy.deepcopy(self._document)
        data = document.get("data", {})
        for name in data.keys() & {"source", "database", "ledger"}:
            data[name] = os.path.normpath(folder / data[name])
        try:
            _write_matrices(document, file)
            file.write_bytes(_toml.document(document).encode("utf-8"))
        except OSError as error:
            raise _residua.Error(
                f"{error.filename or file}: cannot be written: {error.strerror}"
            ) from None


def _write_matrices(document: Mapping[str, Any], spec: Path) -> None:
    """Writes the matrices of the attributes beside the spec, and puts the names of the files in
    their places."""
    for number, attribute in enumerate(document["attributes"].values()):
        for name, matrix in attribute.get("custom", {}).items():
            file = f"{spec.stem}.{number}.{name}.csv"
            np.savetxt(spec.parent / file, matrix, delimiter=",", fmt="%.17g")
            attribute["custom"][name] = file
