"""Rows from everything that holds them give what the command line's reader gives."""

from __future__ import annotations

import datetime
from pathlib import Path

import adbc_driver_sqlite.dbapi
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import residua as rs


def counts(domain, data, ledger):
    """The true counts, but for one in 100,000 cells: the least noise that can be drawn is rounded off."""
    for pcost in np.geomspace(4000, 80, 30):
        plan = rs.plan(domain, marginals=len(domain), pcost=float(pcost))
        if plan.noise_scales.min() ** 2 > 0.0101:
            release = plan.measure(data, ledger=ledger)
            assert release.variances(*domain, answers="cells").max() < 0.0125
            return release.estimates(*domain, answers="cells").round().astype(int)
    raise AssertionError("no budget is large enough")


@pytest.fixture
def one():
    numbers = iter(range(100))

    def count(attribute, data):
        data = data if not isinstance(data, list) else pd.DataFrame({"x": data})
        return counts(rs.Domain(x=attribute), data, f"{next(numbers)}.ledger").tolist()

    return count


def test_all_frames_alike(domain, people, people_csv):
    """The same noise-free counts from pandas, polars, Arrow and the file itself."""
    seen = []
    small = rs.Domain({name: domain[name] for name in ("sex", "education")})
    frames = {
        "pandas": people,
        "polars": pl.read_csv(people_csv, null_values=[""]),
        "arrow": pa.Table.from_pandas(people),
        "batch": pa.RecordBatch.from_pandas(people),
        "categories": people.astype({"sex": "category", "education": "category"}),
        "path": people_csv,
    }
    for name, frame in frames.items():
        seen.append(counts(small, frame, f"{name}.ledger").tolist())
    assert all(table == seen[0] for table in seen)
    truth = people.assign(education=people["education"].fillna("null")).groupby(["sex", "education"]).size()
    assert seen[0][0][0] == truth["female", "primary"]
    assert seen[0][1][6] == truth["male", "null"]


def test_missing_values(one):
    with_null = rs.integers(0, 2, null=True)
    assert one(with_null, [0, 1, None, 2]) == [1, 1, 1, 1]
    assert one(with_null, [0.0, np.nan, 2.0]) == [1, 0, 1, 1]
    assert one(with_null, pl.DataFrame({"x": [0, None]})) == [1, 0, 0, 1]
    assert one(with_null, pa.table({"x": pa.nulls(3)})) == [0, 0, 0, 3]
    assert one(rs.values("a", null=True), ["a", None, float("nan"), pd.NA]) == [1, 3]
    with pytest.raises(rs.Error, match=r"the data: column 'x' has no value in row 2; set null=True or outside=\"drop\""):
        one(rs.integers(0, 2), [0, None])


def test_dates(one):
    days = rs.dates("2024-01-01", "2024-03-31", every="month", null=True)
    moments = [datetime.datetime(2024, 1, 31, 23), datetime.datetime(2024, 3, 1), None]
    assert one(days, moments) == [1, 0, 1, 1]
    assert one(days, pl.DataFrame({"x": [datetime.date(2024, 2, 29), None]})) == [0, 1, 0, 1]
    assert one(days, ["2024-02-29", "2024-02-29T10:00:00"]) == [0, 2, 0, 0]
    berlin = pd.DataFrame({"x": pd.to_datetime(["2024-02-01 00:30"]).tz_localize("Europe/Berlin")})
    assert one(days, berlin) == [1, 0, 0, 0], "taken in UTC"
    assert one(rs.part("weekday"), moments[:2]) == [0, 0, 1, 0, 1, 0, 0]
    with pytest.raises(rs.Error, match="column 'x' has the value '2024-02-30' \\(row 1\\), not a date"):
        one(days, ["2024-02-30"])


@pytest.mark.parametrize("kind", ["float", "category", "object", "text", "csv", "json", "parquet", "polars"])
def test_whole_numbers_stored_as_floats(one, kind):
    """As pandas makes them where a value is missing."""
    column = pd.Series([1.0, 2.0, np.nan, 3.0, 2.0])
    frame = pd.DataFrame({"x": column})
    data = {
        "float": frame,
        "category": frame.astype("category"),
        "object": frame.astype(object),
        "text": pd.DataFrame({"x": ["1.0", "2.0", None, "3.0", "2.0"]}),
        "csv": "x.csv",
        "json": "x.json",
        "parquet": "x.parquet",
        "polars": pl.DataFrame({"x": column.tolist()}),
    }[kind]
    frame.to_csv("x.csv", index=False)
    frame.to_json("x.json", orient="records")
    frame.to_parquet("x.parquet")
    assert one(rs.values(1, 2, 3, null=True, outside="drop"), data) == [1, 2, 1, 1]


def test_a_column_that_drops_nearly_everything():
    """It is refused before the spend: there is not even a ledger."""
    plan = rs.plan(rs.Domain(x=rs.values("a", "b", outside="drop")), marginals=1, rho=1)
    frame = pd.DataFrame({"x": ["A"] * 99 + ["a"]})
    with pytest.raises(rs.Refused, match="column 'x' leaves out 99 of 100 rows.* add allow_drops if"):
        plan.measure(frame, ledger="x.ledger")
    assert not Path("x.ledger").exists()
    assert any("leaves out 99 of 100" in problem for problem in plan.check(frame).problems)
    release = plan.measure(frame, ledger="x.ledger", allow_drops=True)
    assert release.notes == ["99 rows dropped (a true count: not for publication)"]


def test_lazy_rows(one, people_csv, domain):
    """What makes its rows later, or piece by piece."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    ages = rs.integers(0, 2)
    assert one(ages, pl.LazyFrame({"x": [0, 1, 2], "y": [1, 1, 1]}).filter(pl.col("x") > 0)) == [0, 1, 1]
    for k, part in enumerate(([0, 1], [2], [2, 2])):
        pq.write_table(pa.table({"y": part, "x": part}), f"part-{k}.parquet")
        pd.DataFrame({"y": part, "x": part}).to_csv(f"part-{k}.csv", index=False)
    assert one(ages, ds.dataset(["part-0.parquet", "part-1.parquet"])) == [1, 1, 1]
    assert one(ages, "part-*.parquet") == [1, 1, 3]
    assert one(ages, "part-*.csv") == [1, 1, 3]
    assert one(ages, (pd.DataFrame({"x": [k]}) for k in (0, 1, 1))) == [1, 2, 0]
    assert one(rs.integers(0, 2, null=True), iter([pd.DataFrame({"x": [0]}), pd.DataFrame({"x": [None, 1.0]})])) == [1, 1, 0, 1]
    batches = [pa.record_batch({"x": [0, 1]}), pa.table({"x": [2]})]
    assert one(ages, iter(batches)) == [1, 1, 1]
    assert one(ages, pd.read_csv("part-0.csv", chunksize=1)) == [1, 1, 0]
    reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches[:1])
    assert one(ages, reader) == [1, 1, 0]


def test_text_of_many_csv_files_is_as_of_one(one):
    """007 stays a text, an empty field is missing, and the header has the delimiter."""
    for k, rows in enumerate(("007;a\n;b\n", "7;c\n")):
        Path(f"codes-{k}.csv").write_text("x;y\n" + rows)
    Path("all.csv").write_text("x;y\n007;a\n;b\n7;c\n")
    codes = rs.values("7", "007", null=True)
    assert one(codes, "codes-*.csv") == one(codes, "all.csv") == [1, 1, 1]


def test_duckdb_relations(one):
    relation = duckdb.sql("SELECT range % 3 AS x, 'y' AS y FROM range(7)")
    assert one(rs.integers(0, 2), relation) == [3, 2, 2]


@pytest.mark.parametrize("fetch", ["fetch_record_batch", "fetch_arrow", "fetch_arrow_table", "fetch_df"])
def test_adbc(one, fetch):
    with adbc_driver_sqlite.dbapi.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE t (x INTEGER, y TEXT)")
        cursor.executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b"), (2, "c"), (None, "d")])
        cursor.execute("SELECT x, y FROM t")
        assert one(rs.values(1, 2, null=True), getattr(cursor, fetch)()) == [1, 2, 1]


def test_numbers_and_other_values(one):
    assert one(rs.values(1, 2, null=True), pa.table({"x": [1.0, 2.0, float("nan")]})) == [1, 1, 1]
    assert one(rs.values("a", "b", outside="other"), ["a", "x", "y"]) == [1, 0, 2]


def test_attributes_share_a_column():
    domain = rs.Domain(
        day=rs.dates("2024-01-01", "2024-03-31", every="month"),
        weekday=rs.part("weekday", column="day"),
    )
    frame = pd.DataFrame({"day": ["2024-01-31", "2024-03-01"], "other": [1, 2]})
    plan = rs.plan(domain, marginals=1, rho=1)
    release = plan.measure(frame, ledger="shared.ledger")
    assert list(release.table("weekday")["weekday"])[:2] == ["Monday", "Tuesday"]
    assert release.query(day=("2024-01", "2024-02")).std_dev > 0
    assert release.query("weekday=Saturday..Sunday").std_dev > 0


def test_kinds_of_columns(one):
    assert one(rs.values(True, False), [True, False, True]) == [2, 1]
    assert one(rs.values("2024-01-01", "2024-01-02"), [datetime.date(2024, 1, 2)]) == [0, 1]
    assert one(rs.values(datetime.date(2024, 1, 1), "b"), [datetime.date(2024, 1, 1)]) == [1, 0]
    assert one(rs.integers(0, 2), pd.DataFrame({"x": pd.array([1, 2], dtype="UInt64")})) == [0, 1, 1]
    assert one(rs.integers(0, 2), pd.DataFrame({"x": np.array([1, 2], dtype=np.float32)})) == [0, 1, 1]
    assert one(rs.integers(0, 2), ["1", " 2"]) == [0, 1, 1]
    assert one(rs.cuts(1.5), [1, 2, 3]) == [1, 2]
    assert one(["a", "b"], pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode()})) == [2, 1]
    assert one(["a", "b"], pa.table({"x": pa.array(["a", "b"], pa.large_string())})) == [1, 1]
    assert one(["a", "b"], pa.table({"x": pa.array(["a", "b"], pa.string_view())})) == [1, 1]
    assert one(["a", "b"], pl.DataFrame({"x": pl.Series(["a", "b", "b"], dtype=pl.Categorical)})) == [1, 2]
    assert one(["a", "b"], pl.DataFrame({"x": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"]))})) == [1, 1]
    assert one([1, 2], [1, 2, 2]) == [1, 2]


def test_chunks_and_slices(one):
    chunked = pa.chunked_array([[0, 1], [], [1]], type=pa.int16())
    assert one(rs.integers(0, 1), pa.table({"x": chunked})) == [1, 2]
    assert one(rs.integers(0, 1), pa.table({"x": [0, 0, 1, 1, 1]}).slice(1, 3)) == [1, 2]
    assert one(rs.integers(0, 1, null=True), pa.table({"x": [0, None, 1, None]}).slice(1, 2)) == [0, 1, 1]


def test_empty(one):
    assert one(["a", "b"], pd.DataFrame({"x": []})) == [0, 0]
    assert one(["a", "b"], pl.DataFrame({"x": []}, schema={"x": pl.String})) == [0, 0]
    assert one(rs.integers(0, 1), pa.table({"x": pa.array([], pa.int64())})) == [0, 0]


def test_any_stream_is_read(one):
    class Stream:
        """Some have a `select` that means something else."""

        columns = ["other", "x"]

        def select(self, *anything):
            raise AssertionError

        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"other": [1, 2], "x": [0, 1]}).__arrow_c_stream__(requested_schema)

    assert one(rs.integers(0, 1), Stream()) == [1, 1]


def test_columns_are_taken_by_name(domain):
    """Whatever their order, and whatever else is there."""

    class Stream:
        def __init__(self, **columns):
            self.table = pa.table(columns)

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    small = rs.Domain(a=2, b=2)
    orders = [
        Stream(b=[1, 1, 1], a=[0, 1, 1]),
        Stream(a=[0, 1, 1], b=[1, 1, 1]),
        Stream(z=[9, 9, 9], b=[1, 1, 1], y=["k", "l", "m"], a=[0, 1, 1]),
    ]
    for number, stream in enumerate(orders):
        assert counts(small, stream, f"{number}.ledger").tolist() == [[0, 1], [0, 2]]
    plan = rs.plan(rs.Domain(a=2), marginals=1, pcost=90, identifier="b", max_rows=1)
    release = plan.measure(Stream(z=[9, 9, 9], b=[1, 2, 3], a=[0, 1, 1]), ledger="b.ledger")
    assert release.query().value == pytest.approx(3, abs=0.9)
    plan = rs.plan(rs.Domain(b=2), marginals=1, pcost=90, identifier="b", max_rows=1)
    release = plan.measure(Stream(z=[9, 9, 9], b=[1, 1, 0]), ledger="c.ledger")
    assert release.query().value == pytest.approx(2, abs=0.9)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"x": ["a", 1, 2.5]}, "column 'x' cannot be read: it holds float, int, str; convert it"),
        ({"x": [[1], [2]]}, "is of type .*, which cannot be read as an integer"),
        ({"x": [datetime.date(2024, 1, 1)]}, "is of type DATE, which cannot be read as an integer"),
        ({"x": [2**70]}, "has the value 1180591620717411303424 .row 1., outside 0..2"),
        ({"x": [-1]}, r'has the value -1 \(row 1\), outside 0..2; set outside="clamp", "drop" or "null" \(with null=True\)'),
        ({"x": [0.5]}, "has the value 0.5 .row 1., not an integer"),
        ({"X": [1]}, "the data: no column 'x', but a column 'X'; spell attributes.x like the column"),
        ({"x": [{}, {}]}, "column 'x' has an Arrow type that cannot be read.*; convert it to text"),
        ({"x": pd.Series(["a\udc80"], dtype=object)}, r"column 'x' cannot be read: it holds '\\udc80', which is not"),
        ({"x": pd.Series([2**70, "\udc80"], dtype=object)}, "which is not valid Unicode; correct it"),
        ({"y": [1], 3: [1]}, "the data: no column 'x'; it has y, 3: rename or remove attributes.x"),
    ],
)
def test_messages(one, data, message):
    with pytest.raises(rs.Error, match=message):
        one(rs.integers(0, 2), pd.DataFrame(data))


def test_no_columns_at_all(one):
    with pytest.raises(rs.Error, match="no column 'x'; it has none: rename or remove attributes.x"):
        one(rs.integers(0, 2), pd.DataFrame())
    with pytest.raises(rs.Error, match="its Arrow stream has no columns; pass a table"):
        one(rs.integers(0, 2), pd.Series([1, 2], name="x"))


def test_twice_the_same_column(one):
    with pytest.raises(rs.Error, match="column 'x' is there 2 times; rename all but one"):
        one(rs.integers(0, 2), pd.DataFrame([[1, 2]], columns=["x", "x"]))


def test_what_is_no_data(one):
    with pytest.raises(rs.Error, match="rows cannot be read from builtins.dict; pass a pandas"):
        one(rs.integers(0, 2), {"x": [1]})
    with pytest.raises(rs.Error, match="an iterable of int; pass DataFrames"):
        one(rs.integers(0, 2), (k for k in [1, 2]))
    with pytest.raises(rs.Error, match="there are no batches"):
        one(rs.integers(0, 2), iter([]))
    for path in ("nowhere.csv", "nowhere-*.csv"):
        with pytest.raises(FileNotFoundError, match="no such file"):
            one(rs.integers(0, 2), path)


def test_a_stream_that_fails(one):
    """An error of the producer's reaches the caller, and nothing is spent."""

    def batches():
        yield pa.record_batch({"x": pa.array([1], pa.int64())})
        raise RuntimeError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(rs.Error, match="the disk is gone"):
        one(rs.integers(0, 2), reader)


def test_identifiers():
    frame = pd.DataFrame({"who": ["ada"] * 5 + ["bob"], "ward": ["a"] * 5 + ["b"]})
    plan = rs.plan(
        rs.Domain(ward=["a", "b"]), marginals=1, pcost=90 * 2**2, identifier="who", max_rows=2
    )
    release = plan.measure(frame, ledger="visits.ledger")
    assert release.estimates("ward").round().tolist() == [2, 1]
    assert release.notes == ["rows left out, beyond max_rows: 3 (a true count: not for publication)"]
    assert "who" in plan.privacy.neighbours
