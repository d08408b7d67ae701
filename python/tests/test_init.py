"""A draft of a spec from rows is the command line's from a file, and is not measured as it is."""

from __future__ import annotations

import pickle
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import residua as rs


def without_source(text):
    """The draft of a file without the line that names it."""
    before, _, rest = text.partition("[data]\nsource = ")
    return before + rest.partition("\n\n")[2]


@pytest.fixture
def people_parquet(people):
    people.to_parquet("people.parquet", index=False)
    return Path("people.parquet")


def test_of_a_file(people_csv, people_parquet, cli):
    for path in (people_csv, people_parquet):
        assert rs.init(path).text == cli("init", path)
    assert rs.init("people.parquet").tables == rs.Spec.read(saved(cli("init", "people.parquet"))).tables


def saved(text):
    Path("theirs.toml").write_text(text)
    return "theirs.toml"


@pytest.mark.parametrize(
    "kind",
    [
        lambda frame: frame,
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False).to_reader(100),
        lambda frame: (frame.iloc[k : k + 1000] for k in range(0, len(frame), 1000)),
        lambda frame: duckdb.sql("FROM 'people.parquet'"),
        lambda frame: pyarrow.dataset.dataset("people.parquet"),
        lambda frame: "people.parq*t",
    ],
)
def test_of_rows(people, people_csv, people_parquet, cli, kind):
    draft = rs.init(kind(people))
    assert draft.text == without_source(cli("init", people_parquet))
    assert draft.text == without_source(cli("init", people_csv))


def test_every_type(cli):
    """Each column has its own values, whatever stands between them and in whichever order."""
    frame = pd.DataFrame(
        {
            "b": [True, False, None, True],
            "list": [[1], [2], [3], [1]],
            "a": [1.0, 2.0, None, 4.0],
            "day": pd.to_datetime(["2013-01-01", "2013-03-01", "2013-02-01", None]),
            "none": [None] * 4,
            "kind": pd.Categorical(["x", "y", "x", None]),
            "A": ["p", "q", "p", "q"],
            "level": [7, 8, 9, 7],
        }
    )
    draft = rs.init(frame)
    marked = {"check": "read from the data"}
    assert {name: dict(a.entries) for name, a in draft.domain.items()} == {
        "b": {"values": ["false", "true"], "null": True, **marked},
        "a": {"integers": [1, 4], "null": True, **marked},
        "day": {"dates": ["2013-01-01", "2013-03-01"], "every": "day", "null": True, **marked},
        "kind": {"values": ["x", "y"], "null": True, **marked},
        "A": {"values": ["p", "q"], **marked},
        "level": {"integers": [7, 9], **marked},
    }
    assert "# list is left out: of type BIGINT[], which cannot be tabulated" in draft.text
    assert "# none is left out: every value is missing." in draft.text
    # The rows fit their own draft: only the marks stand in the way.
    frame = frame.drop(columns="A")
    check = rs.plan(rs.init(frame)).check(frame)
    assert len(check.problems) == 1
    assert "were read from the data" in check.problems[0]
    assert check.rows_left_out == 0


def test_names_that_are_not_its_own():
    table = pa.Table.from_arrays(
        [pa.array([1, 2]), pa.array([3, 4]), pa.array(["x", "y"]), pa.array([5, 6])], names=["a", "a", "b", ""]
    )
    for rows in (table, table.select([0, 1, 2]).to_pandas()):
        draft = rs.init(rows)
        assert list(draft.domain) == ["b"]
        assert draft.domain["b"].entries["values"] == ["x", "y"]
        assert "# a is left out: 2 columns have this name; rename all but one." in draft.text
    assert "# Column 4 is left out: it has no name" in rs.init(table).text


class TestMarks:
    """The cells of a draft may reveal the data: nothing that is made of it is measured."""

    def refused(self, plan, rows):
        for spend in (plan.measure, lambda *args, **more: plan.release(*args, "folder", **more)):
            with pytest.raises(rs.Refused, match="'sex', 'age' were read from the data and may reveal it"):
                spend(rows, ledger="a.ledger")
        assert not Path("a.ledger").exists()
        assert not Path("folder").exists()

    def test_stay(self, people):
        rows = people[["sex", "age"]]
        draft = rs.init(rows)
        assert all(a.entries["check"] == "read from the data" for a in draft.domain.values())
        draft.save("draft.toml")
        Path("other").mkdir()
        draft.replace(rho=1).save("other/changed.toml")
        for what in (
            draft,
            draft.replace(rho=1),
            pickle.loads(pickle.dumps(draft)),
            rs.Spec(draft.domain, marginals=1, rho=1),
            rs.Spec(rs.Domain({**draft.domain}), marginals=1, rho=1),
            "draft.toml",
            "other/changed.toml",
        ):
            plan = rs.plan(what)
            self.refused(plan, rows)
            plan.save("plan.json")
            self.refused(rs.load_plan("plan.json"), rows)

    def test_are_removed_by_a_person(self, people):
        draft = rs.init(people)
        draft.save("draft.toml")
        text = Path("draft.toml").read_text()
        assert text == draft.text
        assert text.startswith("# Drafted by residua init: a start, to be edited.")
        Path("draft.toml").write_text(text.replace('check = "read from the data"\n', ""))
        assert rs.plan("draft.toml").measure(people, ledger="a.ledger").plan.tables == draft.tables

    def test_are_only_where_cells_were_read(self, people):
        rows = people[["sex", "age"]]
        known = rs.Domain({**rs.init(rows).domain, "sex": ["female", "male"]})
        with pytest.raises(rs.Refused, match="the cells of 'age' were read from the data"):
            rs.plan(known, marginals=1, rho=1).measure(rows, ledger="a.ledger")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (lambda: None, "data: there is none; pass a DataFrame"),
        (lambda: 3, "rows cannot be read from builtins.int"),
        (lambda: pd.DataFrame({"a": []}), "the data: there are no rows to look at"),
        (lambda: pd.DataFrame({0: [1, 2]}), "the name of column 0 is not a text; use frame.rename"),
        (lambda: pd.DataFrame({"a": [[1], [2]]}), "the data: no column can be read"),
        (lambda: pd.DataFrame(), "the data: no column can be read"),
        (lambda: pd.DataFrame({"a": ["x"] * 3}), "no column can be drafted; a is left out: it has one value"),
        (lambda: pd.DataFrame({"a": [float("nan")] * 3}), "drafted; a is left out: every value is missing$"),
        (lambda: "none.csv", "none.csv: no such file"),
    ],
)
def test_refusals(data, message):
    with pytest.raises(rs.Error, match=message) as raised:
        rs.init(data())
    assert "\n" not in str(raised.value)
