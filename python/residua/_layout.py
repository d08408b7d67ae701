"""How the tables of a plan are laid out: their attributes, axes and columns."""

from __future__ import annotations

from typing import Literal

from residua import _labels, _residua
from residua._labels import Axis, Indices
from residua._plain import text

Answers = Literal["planned", "prefixes", "cells"]


def checked_answers(answers: Answers) -> Answers:
    if answers not in ("planned", "prefixes", "cells"):
        raise _residua.InputError(
            f"answers: {answers!r} is not known; choose planned, prefixes or cells"
        )
    return answers


class Layout:
    """Attributes go by their index in the domain, and tables by the list of them."""

    def __init__(self, file: _residua.PlanFile) -> None:
        self._file = file
        self.attributes = file.attributes()
        self.columns: list[str] = file.columns()  # of tables
        # Of attributes with a hierarchy: the column of tables, and the level of each answer.
        self._levels: dict[int, tuple[str, Indices]] = file.levels()
        self._axes: dict[str, list[Axis]] = {}
        self._sets: dict[tuple[str, ...], list[int]] | None = None

    def table_sets(self) -> dict[tuple[str, ...], list[int]]:
        """The tables by their names, smaller ones first."""
        if self._sets is None:
            self._sets = {self.names(table): list(table) for table in self._file.errors()[0]}
        return self._sets

    def ordered_set(self, names: tuple[str, ...]) -> tuple[list[int], tuple[int, ...]]:
        """The attributes in the domain's order, and the place there of each name."""
        if len(names) == 1 and isinstance(names[0], list | tuple):
            listed = ", ".join(map(repr, names[0]))
            raise _residua.InputError(f"attributes: found a list; name them one by one: {listed}")
        asked = [text(name, "attributes") for name in names]
        table = list(self._file.find_set(asked))
        place_of = {self.attributes[i]["name"]: k for k, i in enumerate(table)}
        return table, tuple(place_of[name] for name in asked)

    def index(self, name: str) -> int:
        return self.ordered_set((name,))[0][0]

    def axis(self, attribute: int, answers: str) -> Axis:
        if answers not in self._axes:
            self._axes[answers] = [
                _labels.axis(told, labels, "mean" not in told and (answers == "cells" or told["queries"] == "identity"))
                for told, labels in zip(self.attributes, self._file.labels(answers), strict=True)
            ]
        return self._axes[answers][attribute]

    def level(self, attribute: int, answers: str) -> tuple[str, Indices] | None:
        return None if answers == "cells" else self._levels.get(attribute)

    def label_columns(self, attribute: int, answers: str) -> list[str]:
        level = self.level(attribute, answers)
        return [self.columns[attribute], *([level[0]] if level else [])]

    def shape(self, table: list[int], answers: str) -> tuple[int, ...]:
        return tuple(len(self.axis(i, answers)) for i in table)

    def data_columns(self) -> list[str]:
        """The columns of the data that the plan is about."""
        columns = [a.get("column", a["name"]) for a in self.attributes]
        if identifier := self._file.identifier():
            columns.append(identifier)
        return list(dict.fromkeys(columns))  # some may share a column

    def names(self, table: list[int]) -> tuple[str, ...]:
        return tuple(self.attributes[i]["name"] for i in table)
