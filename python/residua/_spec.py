"""A spec: what to release, from which data, at what cost. The command line reads the same file."""

from __future__ import annotations

import copy
import difflib
import numbers
import os
import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, Unpack

import numpy as np

from residua import _data, _residua, _toml
from residua._attributes import Attribute, Domain
from residua._plain import plain

Number = int | float | str | Fraction | Decimal
Tables = str | Iterable[str | Iterable[str]] | Mapping[tuple[str, ...], float]
Neighbours = Literal["add-remove", "replace-one"]
Weights = Literal["cells", "sqrt-cells", "equal"]


class Settings(TypedDict, total=False):
    """The arguments of a spec beside its domain."""

    marginals: str | int | None
    tables: Tables | None
    objective: str | None
    weights: Weights | None
    pcost: Number | None
    rho: Number | None
    mu: Number | None
    epsilon: Number | None
    delta: Number | None
    max_std_dev: Number | None
    target_loss: Number | None
    neighbours: Neighbours | None
    identifier: str | None
    max_rows: int | None
    source: str | os.PathLike[str] | None
    database: str | os.PathLike[str] | None
    query: str | None
    ledger: str | os.PathLike[str] | None
    null_values: Iterable[str] | None
    push_down: bool | None


_BUDGETS = ("pcost", "rho", "mu", "epsilon", "max_std_dev", "target_loss")
# The sections of a spec file that hold the arguments of Spec.
_SECTIONS = {
    "data": ("source", "database", "query", "ledger", "null_values", "push_down"),
    "privacy": (*_BUDGETS, "delta", "neighbours", "identifier", "max_rows"),
    "workload": ("marginals", "tables", "objective", "weights"),
}


def check_settings(names: Iterable[str]) -> None:
    """Raises TypeError for a name that is none of the arguments of a spec."""
    known = [name for section in _SECTIONS.values() for name in section]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"there is no argument '{name}'{meant}")


def _listed(tables: Tables, attributes: Iterable[str]) -> list[Any]:
    """Lists of attributes. A text that is not the name of one stays: it is as in spec files."""
    if isinstance(tables, str):
        tables = [tables]
    if not isinstance(tables, Iterable):
        raise _residua.InputError(f"tables: expected lists of attributes, found {tables!r}")
    if isinstance(tables, Mapping):
        return [
            {"attributes": _names(names, attributes), "weight": tables[names]} for names in tables
        ]
    return [_names(names, attributes) for names in tables]


def _names(names: Iterable[str], attributes: Iterable[str]) -> list[str] | str:
    if isinstance(names, str):
        return [names] if names in attributes else names
    if not isinstance(names, Iterable):
        raise _residua.InputError(f"tables: expected a list of attributes, found {names!r}")
    return list(names)


class Spec:
    """What to release, from which data, at what cost.

    `domain` is a :class:`Domain`.

    The tables: `marginals` is ``"<=2"`` (all tables of up to two columns), ``2`` (all tables of
    two) or ``"cells<=5000"``. `tables` adds lists of columns, or a dictionary that gives each such
    tuple a weight; ``"total"`` is the table without columns.

    The cost: one of `rho`, `epsilon` with `delta`, `mu` and `pcost`; or `max_std_dev` or
    `target_loss`, for the smallest budget that is this accurate. ``"1/3"`` and Fractions are exact.
    `objective` is "sum-variance", "max-variance" or "p-norm=P"; `weights` is "cells", "sqrt-cells"
    or "equal". `neighbours` is "add-remove" or "replace-one". Where a person can have several rows,
    `identifier` is the column that says whose row it is, and at most `max_rows` of each count.

    The data: `source`, which may have a `query` on the table "data" that it is, or `database` with
    `query`; and its `ledger`. `null_values` are texts that mean a missing value, in every column.
    With `push_down`, the rows may not leave the database, which counts them itself.

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
        weights: Weights | None = None,
        pcost: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        max_std_dev: Number | None = None,
        target_loss: Number | None = None,
        neighbours: Neighbours | None = None,
        identifier: str | None = None,
        max_rows: int | None = None,
        source: str | os.PathLike[str] | None = None,
        database: str | os.PathLike[str] | None = None,
        query: str | None = None,
        ledger: str | os.PathLike[str] | None = None,
        null_values: Iterable[str] | None = None,
        push_down: bool | None = None,
    ) -> None:
        given = dict(locals())
        if not isinstance(domain, Domain):
            raise _residua.InputError(
                f"domain: expected a residua.Domain, found {type(domain).__name__}"
            )
        self._document: dict[str, dict[str, Any]] = {
            "data": {},
            "privacy": {},
            "attributes": {name: dict(a.entries) for name, a in domain.items()},
            "workload": {},
        }
        self.folder: Path = Path.cwd()
        self._original = ""
        self._is_unchanged = False
        self._name = ""
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
            raise _residua.NotFoundError(f"{file}: no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            raise _residua.Error(f"{file}: cannot be read: {error}") from None
        spec.folder = file.parent.absolute()
        spec._is_unchanged = True
        spec._name = str(file.absolute())
        spec._described = spec._spec = _residua.parse_spec(spec._original, str(file))
        spec._document = tomllib.loads(spec._original.removeprefix("\ufeff"))
        for name, matrices in spec._spec.matrices().items():
            spec._document["attributes"][name]["custom"] = matrices
        return spec

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        del state["_described"], state["_spec"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._original:
            self._described = _residua.parse_spec(self._original, self._name)
        else:
            self._described = _residua.spec_of_domain(self._document["attributes"])
        self._spec = self._described
        self._change({})

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
                        item = _listed(item, self._document["attributes"])
                    elif name == "marginals" and not isinstance(item, str | numbers.Real):
                        raise _residua.InputError(
                            f'marginals: expected a number or a text such as "<=2", found {item!r}'
                        )
                    elif isinstance(item, os.PathLike):
                        item = os.fspath(item)
                    entries[name] = plain(item)
                    self._is_unchanged = False
                if name in entries:
                    settings[name] = entries[name]
        if not self._is_unchanged:
            self._spec = self._described.with_settings(settings)

    def replace(self, **changes: Unpack[Settings]) -> Self:
        """A copy with other arguments. A new budget replaces the old one.

        >>> import residua as rs
        >>> spec = rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=0.5)
        >>> "mu = 2" in spec.replace(mu=2).text
        True
        """
        check_settings(changes)
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
        return self._original if self._is_unchanged else _toml.document(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a spec file for the command line. Matrices go into files beside it. What was read
        or drafted, and not changed, keeps its comments, unless it names files of another folder. A
        file that is there and is not a spec is refused.

        >>> import residua as rs
        >>> rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=1).save("spec.toml")
        >>> rs.plan("spec.toml").privacy.budget_pcost
        Fraction(2, 1)
        """
        file = Path(path)
        _check_replaceable(file)
        folder = Path(os.path.relpath(self.folder, file.parent.absolute()))
        document = copy.deepcopy(self._document)
        data = document.get("data", {})
        places = data.keys() & {"source", "database", "ledger"}
        for name in places:
            data[name] = os.path.normpath(folder / data[name])
        has_files = places or any("custom" in a for a in document["attributes"].values())
        try:
            if self._is_unchanged and (folder == Path() or not has_files):
                text = self._original
            else:
                _write_matrices(document, file)
                text = _toml.document(document)
            file.write_bytes(text.encode("utf-8"))
        except OSError as error:
            raise _residua.Error(
                f"{error.filename or file}: cannot be written: {error.strerror}"
            ) from None


# No spec is as large.
_MOST_SPEC_BYTES = 100_000_000


def _check_replaceable(file: Path) -> None:
    """A spec replaces only a spec, or an empty file: another name may have been meant."""
    if not file.is_file() or file.stat().st_size == 0:
        return
    is_spec = False
    if file.stat().st_size <= _MOST_SPEC_BYTES:
        try:
            is_spec = "attributes" in tomllib.loads(file.read_text(encoding="utf-8"))
        except ValueError:  # of UTF-8 or TOML
            pass
    if not is_spec:
        raise _residua.Refused(
            f"{file}: exists and is not a spec, so it is not overwritten; choose another path"
        )


def init(data: Any) -> Spec:
    """Drafts a spec from the columns of the data, to be corrected by a person.

    `data` is all that :meth:`Plan.measure` takes. A domain must be public knowledge, and this one
    is read from the data: its cells can reveal the age of the oldest person, or a rare illness. So
    each attribute is marked, and :meth:`Plan.measure` refuses marked attributes. Plans can be made
    of them, to see errors.

    Save the draft and edit the file: replace each domain by what is known without looking at the
    data, then remove its line ``check``. Or read it, and write a :class:`Domain` of your own. Do
    not publish the draft; nothing of it is shown unless you ask.

    >>> import residua as rs, pandas as pd
    >>> people = pd.DataFrame({"sex": ["female", "male", "male"], "age": [3, 50, 70]})
    >>> draft = rs.init(people)
    >>> draft.domain
    Domain(sex: 2, age: 68)
    >>> draft.domain["sex"].entries
    {'values': ['female', 'male'], 'check': 'read from the data'}
    >>> draft.save("draft.toml")
    """
    if data is None:
        raise _residua.InputError("data: there is none; pass a DataFrame or the path of a file")
    rows = _data.rows_of(data, None)
    spec = Spec.__new__(Spec)
    spec._original = _residua.draft(rows.stream, rows.source)
    document = tomllib.loads(spec._original)
    if "attributes" not in document:
        raise _residua.InputError(
            "the data: no column can be drafted; " + "; ".join(_left_out(spec._original)[:3])
        )
    spec.folder = Path.cwd()
    spec._is_unchanged = True
    spec._name = "the draft"
    spec._described = spec._spec = _residua.parse_spec(spec._original, spec._name)
    spec._document = document
    return spec


def _left_out(draft: str) -> list[str]:
    """What the comments of a draft say of columns that have no attribute."""
    comments = (
        " ".join(line.removeprefix("# ") for line in part.splitlines()) for part in draft.split("\n\n")
    )
    return [comment.rstrip(".") for comment in comments if " is left out: " in comment]


def _write_matrices(document: Mapping[str, Any], spec: Path) -> None:
    """Writes the matrices of the attributes beside the spec, and puts the names of the files in
    their places."""
    for number, attribute in enumerate(document["attributes"].values()):
        for name, matrix in attribute.get("custom", {}).items():
            file = f"{spec.stem}.{number}.{name}.csv"
            np.savetxt(spec.parent / file, matrix, delimiter=",", fmt="%.17g")
            attribute["custom"][name] = file
