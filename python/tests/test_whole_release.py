"""A whole release from Python is that of the command line; and what is around it."""

from __future__ import annotations

import pickle
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import residua as rs


@pytest.fixture
def plan(domain):
    return rs.plan(domain, marginals="<=2", rho=0.5)


class TestFolder:
    def test_as_the_command_line(self, plan, domain, people, people_csv, cli):
        """The same files; what does not depend on the noise is the same to the letter."""
        release = plan.release(people, "ours", ledger="ours.ledger", title="People", progress=False)
        spec = rs.Spec(domain, marginals="<=2", rho=0.5, source=people_csv, ledger="theirs.ledger")
        spec.save("people.toml")
        text = Path("people.toml").read_text()
        Path("people.toml").write_text('[release]\ntitle = "People"\n' + text)
        cli("release", "people.toml", "-o", "theirs", "--yes")
        names = lambda folder: sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*"))
        assert names("ours") == names("theirs")
        assert Path("ours/plan.json").read_text() == Path("theirs/plan.json").read_text()
        assert Path("ours/summary.md").read_text() == Path("theirs/summary.md").read_text()
        page = rs.load_release("ours").page("ours.html", spec="people.toml")
        assert Path("ours/index.html").read_bytes() == Path("ours.html").read_bytes()
        assert page.num_tables == len(plan.tables)
        cli("verify", "ours/measurements.parquet")
        assert rs.load_release("ours").query() == release.query()
        table = pd.read_csv("ours/tables/sex.csv")
        assert np.allclose(table["estimate"], release.table("sex")["estimate"], atol=1e-2)
        for file in Path("ours").rglob("*"):
            assert file.is_dir() or b"ours.ledger" not in file.read_bytes()

    def test_again_reads_no_data(self, plan, people):
        first = plan.release(people, "folder", ledger="a.ledger")

        class Unreadable:
            def __arrow_c_stream__(self, requested_schema=None):
                return people.iloc[:0].__arrow_c_stream__()

        (Path("folder") / "summary.md").unlink()
        again = plan.release(Unreadable(), "folder", ledger="a.ledger")
        assert again.query() == first.query()
        assert Path("folder/summary.md").exists()
        assert rs.Ledger("a.ledger").entries()["kind"].tolist() == ["granted", "spent"]

    def test_an_interruption_is_resumed(self, plan, people):
        """While the noise was drawn: the spend is used, and not made again."""
        class Stopped(Exception):
            pass

        def show(phase, done, total):
            if phase == "Measuring":
                raise Stopped

        big = rs.Domain({f"c{k}": rs.size(50) for k in range(6)})
        frame = pd.DataFrame({f"c{k}": np.arange(600) % 50 for k in range(6)})
        large = rs.plan(big, marginals=3, rho=1)
        with pytest.raises(Stopped):
            large.release(frame, "folder", ledger="a.ledger", format="parquet", progress=show)
        assert rs.Ledger("a.ledger").entries()["kind"].tolist() == ["granted", "reserved"]
        large.release(frame, "folder", ledger="a.ledger", format="parquet")
        assert rs.Ledger("a.ledger").entries()["kind"].tolist() == ["granted", "spent"]

    def test_refusals(self, plan, people, domain):
        Path("other").mkdir()
        Path("other/file").touch()
        with pytest.raises(rs.Refused, match="is not a release of residua"):
            plan.release(people, "other", ledger="a.ledger")
        with pytest.raises(rs.InputError, match="rows in memory have no ledger"):
            plan.release(people, "new")
        with pytest.raises(rs.InputError, match="format 'xml' is not known; choose csv or parquet"):
            plan.release(people, "new", ledger="a.ledger", format="xml")
        plan.release(people, "folder", ledger="a.ledger", format="parquet")
        other = rs.plan(domain, marginals=1, rho=0.5)
        with pytest.raises(rs.Refused, match="holds the release of another plan"):
            other.release(people, "folder", ledger="a.ledger")
        frame = pd.DataFrame({"x": ["A"] * 99 + ["a"]})
        drops = rs.plan(rs.Domain(x=rs.values("a", "b", outside="drop")), marginals=1, rho=1)
        with pytest.raises(rs.Refused, match="leaves out 99 of 100 rows"):
            drops.release(frame, "x", ledger="x.ledger")
        assert not Path("x").exists()
        drops.release(frame, "x", ledger="x.ledger", allow_drops=True)

    def test_a_plan_of_its_own_loss(self, people, domain):
        plan = rs.plan(domain, marginals="<=1", rho=0.5, loss=lambda v: ((v**2).sum(), 2 * v))
        plan.release(people, "folder", ledger="a.ledger")
        assert rs.load_plan("folder/plan.json").noise_scales.tolist() == plan.noise_scales.tolist()


class TestPage:
    def test_as_the_command_line(self, release, domain, cli, monkeypatch):
        """To the byte, for a release in memory and one of a file; no other file stays."""
        Path("temporary").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(Path("temporary").absolute()))
        release.save("people.parquet")
        rs.Spec(domain, marginals="<=2", rho=0.5).save("people.toml")
        text = Path("people.toml").read_text()
        Path("people.toml").write_text('[release]\ntitle = "<People> & more"\n' + text)
        for name, flags, arguments in (
            ("plain", [], {}),
            ("other", ["--spec", "people.toml", "--confidence", "0.8"], {"spec": "people.toml", "confidence": 0.8}),
        ):
            cli("page", "people.parquet", "-o", f"{name}.html", *flags)
            theirs = Path(f"{name}.html").read_bytes()
            page = release.page("ours.html", **arguments)
            assert Path("ours.html").read_bytes() == theirs
            assert page == rs.Page(Path("ours.html"), len(theirs), len(release.plan.tables), [])
            rs.load_release("people.parquet").page("loaded.html", **arguments)
            assert Path("loaded.html").read_bytes() == theirs
        assert b"&lt;People&gt; &amp; more" in theirs
        release.page("ours.html", spec=rs.Spec.read("people.toml"), confidence=0.8)
        assert Path("ours.html").read_bytes() == theirs
        release.page()
        assert Path("index.html").read_bytes() == Path("plain.html").read_bytes()
        assert list(Path("temporary").iterdir()) == []

    def test_tables_that_do_not_fit(self, cli):
        domain = rs.Domain({f"c{k}": rs.size(400) for k in range(3)})
        frame = pd.DataFrame({f"c{k}": np.arange(400) for k in range(3)})
        release = rs.plan(domain, marginals="<=2", rho=0.01).measure(frame, ledger="a.ledger")
        whole = release.page("whole.html")
        assert whole.left_out == []
        most = whole.num_bytes - 100_000
        with pytest.warns(UserWarning, match="1 of 7 tables did not fit, the largest c1 x c2; allow more max_bytes"):
            page = release.page("part.html", max_bytes=most)
        assert page.left_out == ["c1 x c2"]
        assert page.num_bytes == Path("part.html").stat().st_size <= most
        release.save("a.parquet")
        cli("page", "a.parquet", "-o", "theirs.html", "--page-size", most / 1e6)
        assert Path("theirs.html").read_bytes() == Path("part.html").read_bytes()

    def test_rows_of_a_query_are_told(self, people_csv):
        """What is protected is a row of the query; readers of a release in memory see it too."""
        sexes = rs.Domain(sex=["female", "male"])
        for name, more in (("rows", {}), ("query", {"query": "SELECT sex FROM data"})):
            plan = rs.plan(sexes, marginals=1, rho=1, source=people_csv, ledger=f"{name}.ledger", **more)
            plan.measure().page(f"{name}.html")
        assert b'"isQuery":false' in Path("rows.html").read_bytes()
        assert b'"isQuery":true' in Path("query.html").read_bytes()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"max_bytes": 0}, "max_bytes is 0; it must be above 0"),
            ({"max_bytes": 1_000_000_001}, "at most 1000000000"),
            ({"max_bytes": 1.5}, "max_bytes: expected a whole number"),
            ({"max_bytes": 1}, "a page of 1 byte cannot hold it"),
            ({"max_bytes": 1000}, "a page of 1000 bytes cannot hold it; allow at least [0-9]+$"),
            ({"confidence": 1}, "confidence"),
            ({"spec": 3}, "spec: expected a path"),
            ({"spec": "none.toml"}, "none.toml: no such file"),
        ],
    )
    def test_refusals(self, release, arguments, message):
        with pytest.raises(rs.Error, match=message):
            release.page("a.html", **arguments)
        assert not Path("a.html").exists()


class TestTables:
    def test_levels_of_a_hierarchy(self, cli):
        """As in the files: beside the attribute, and null in tables without it."""
        groups = {"north": {"far": ["N1"], "near": ["N2", "N3"]}, "south": ["S1"]}
        domain = rs.Domain(
            district=rs.values("N1", "N2", "N3", "S1", hierarchy=groups, null=True),
            sex=["female", "male"],
            district_level=rs.size(2),
        )
        frame = pd.DataFrame({"district": ["N1", "S1", None], "sex": ["male"] * 3, "district_level": [0, 1, 1]})
        release = rs.plan(domain, marginals="<=2", rho=1).measure(frame, ledger="a.ledger", to="a.parquet")
        table = release.table("district")
        assert table.columns.tolist()[:2] == ["district", "district_level_"]
        assert dict(zip(table["district"].astype(object), table["district_level_"], strict=True)) == {
            "N1": 0, "N2": 0, "N3": 0, "S1": 0, np.nan: 0, "far": 1, "near": 1, "south": 1, "north": 2,
        }
        assert table["district_level_"].dtype == np.int64
        cli("tables", "a.parquet", "--digits", "full", "-o", "theirs")
        cli("tables", "a.parquet", "--digits", "full", "--integers", "-o", "whole")
        adjusted = release.adjusted(nonnegative=False, integers=True)
        begin = 0
        long, arrow = release.to_pandas(), release.to_arrow()
        assert arrow.column_names[:4] == ["table", "district", "district_level_", "sex"]
        assert long.columns.tolist() == arrow.column_names
        for names, table in release.tables().items():
            name = "_x_".join(names) or "total"
            theirs = pd.read_csv(Path("theirs", name + ".csv"))
            assert theirs.columns.tolist() == table.columns.tolist()
            assert pd.read_csv(Path("whole", name + ".adjusted.csv")).columns.tolist() == adjusted[names].columns.tolist()
            levels = long["district_level_"].iloc[begin : begin + len(table)]
            assert arrow["district_level_"].slice(begin, len(table)).null_count == levels.isna().sum()
            if "district" in names:
                assert theirs["district_level_"].tolist() == table["district_level_"].tolist() == levels.tolist()
                assert adjusted[names]["district_level_"].tolist() == levels.tolist()
            else:
                assert levels.isna().all()
            begin += len(table)
        turned = release.table("sex", "district")
        assert turned.columns.tolist()[:4] == ["sex", "district", "district_level_", "estimate"]
        merged = turned.merge(release.table("district", "sex"), on=["sex", "district", "district_level_"])
        assert len(merged) == len(turned)
        assert (merged["estimate_x"] == merged["estimate_y"]).all()
        assert "district_level_" not in release.table("district", answers="cells")
        assert "district_level_" not in release.to_arrow(answers="cells").column_names

    def test_a_mapping(self, release):
        tables = release.tables(confidence=0.5, answers="cells")
        assert list(tables) == release.plan.tables
        assert ("age", "sex") in tables
        assert "sex" in tables
        assert ("sex", "age") not in tables
        for names, table in tables.items():
            pd.testing.assert_frame_equal(table, release.table(*names, confidence=0.5, answers="cells"))
            pd.testing.assert_frame_equal(table, tables[names])
        with pytest.raises(KeyError):
            tables["age", "sex", "income"]

    @pytest.mark.parametrize("answers", ["planned", "cells"])
    def test_all_in_one(self, release, answers):
        frame = release.to_pandas(answers=answers)
        polars = release.to_polars(answers=answers)
        arrow = release.to_arrow(answers=answers)
        assert len(frame) == polars.height == arrow.num_rows
        begin = 0
        for names, table in release.tables(answers=answers).items():
            rows = frame.iloc[begin : begin + len(table)]
            assert set(rows["table"]) == {"_x_".join(names) or "total"}
            for column in ("estimate", "std_dev", "ci_lower", "ci_upper"):
                assert np.array_equal(rows[column], table[column])
                assert np.array_equal(polars[column][begin : begin + len(table)], table[column])
            for attribute in release.plan.sizes:
                theirs = arrow[attribute].slice(begin, len(table)).to_pylist()
                if attribute in names:
                    labels = [None if pd.isna(label) else label for label in table[attribute]]
                    assert [None if pd.isna(label) else label for label in rows[attribute]] == labels == theirs
                else:
                    assert rows[attribute].isna().all()
                    assert theirs == [None] * len(table)
            begin += len(table)
        assert begin == len(frame)

    def test_many_tables(self):
        """20,301 tables in one go; one by one takes half a minute."""
        domain = rs.Domain({f"c{k}": rs.size(2) for k in range(201)})
        frame = pd.DataFrame({f"c{k}": [0, 1] for k in range(201)})
        release = rs.plan(domain, marginals="<=2", rho=1).measure(frame, ledger="a.ledger")
        long = release.to_arrow()
        assert long.num_rows == 1 + 2 * 201 + 4 * 201 * 200 // 2
        last = long.slice(long.num_rows - 4).to_pandas()
        assert np.array_equal(last["estimate"], release.table("c199", "c200")["estimate"])
        assert last["c200"].tolist() == [0, 1, 0, 1]
        assert next(iter(release.tables().items()))[0] == ()

    @pytest.mark.parametrize("flags", [("--nonnegative",), ("--nonnegative", "--integers"), ("--integers",)])
    def test_adjusted(self, release, cli, flags):
        release.save("people.parquet")
        cli("tables", "people.parquet", *flags, "--digits", "full", "-o", "adjusted")
        adjusted = release.adjusted(nonnegative="--nonnegative" in flags, integers="--integers" in flags)
        for names, table in adjusted.items():
            theirs = pd.read_csv(Path("adjusted", ("_x_".join(names) or "total") + ".adjusted.csv"))
            # The command line fits in another order: the last digits differ, and so may a rounding.
            atol = 1 if len(flags) == 2 else 1e-3 if "--nonnegative" in flags else 1e-6
            assert np.allclose(theirs["adjusted"], table["adjusted"], rtol=1e-9, atol=atol)
            bounds = [f"{name}_{end}" for name in names for end in ("lower", "upper")]
            assert [name for name in theirs.columns[:-1] if name not in bounds] == list(names)
        if "--nonnegative" in flags:
            assert adjusted.max_deviation <= 0.1
            assert adjusted["education", "income"]["adjusted"].min() >= 0
        if "--integers" in flags:
            assert adjusted["age"]["adjusted"].dtype == np.int64
        with pytest.raises(rs.InputError, match="nothing is to be adjusted"):
            release.adjusted(nonnegative=False)


class TestCheck:
    def test_what_would_stop_a_release(self, plan, people):
        assert plan.check(people).is_ready
        bad = people.assign(sex=people["sex"].where(people.index > 1, "unknown"), income=people["income"].astype(str))
        bad.loc[5, "income"] = "much"
        check = plan.check(bad)
        assert len(check.problems) == 2
        assert "column 'sex' has the value 'unknown' (row 1)" in check.problems[0]
        assert "'much' (row 6)" in check.problems[1]
        told = check.attributes.set_index("attribute")
        assert told.loc["sex", "outside"] == 2
        assert told.loc["education", "missing"] == people["education"].isna().sum()
        assert check.rows == len(people)
        assert "3000" not in repr(check)
        assert not Path("people.ledger").exists()

    def test_warnings(self, people, domain):
        noisy = rs.plan(domain, marginals=3, rho=1e-6).check(people)
        assert noisy.is_ready
        assert any("mostly noise" in warning for warning in noisy.warnings)
        large = rs.plan(domain, marginals=1, epsilon=20, delta=1e-3).check(people)
        assert any("epsilon is" in warning for warning in large.warnings)
        assert any("delta is 0.001" in warning for warning in large.warnings)


class TestLedger:
    def test_create(self, cli):
        ledger = rs.Ledger.create("a.ledger", rho="1/3", reason="board")
        assert ledger.balance == (Fraction(1, 3), 0)
        assert "granted" in cli("ledger", "--ledger", "a.ledger")
        with pytest.raises(rs.Refused, match="exists"):
            rs.Ledger.create("a.ledger", rho=1, reason="board")
        with pytest.raises(rs.InputError, match="reason"):
            rs.Ledger.create("b.ledger", rho=1, reason="")
        with pytest.raises(rs.InputError, match="identifier and max_rows go together"):
            rs.Ledger.create("b.ledger", rho=1, reason="board", identifier="who")
        plan = rs.plan(rs.Domain(a=2), marginals=1, rho="1/2")
        with pytest.raises(rs.Refused):
            plan.measure(pd.DataFrame({"a": [0]}), ledger="a.ledger")

    def test_neighbours_are_those_of_the_plan(self):
        rs.Ledger.create("a.ledger", rho=9, reason="board", identifier="who", max_rows=2)
        frame = pd.DataFrame({"a": [0], "who": ["ada"]})
        rs.plan(rs.Domain(a=2), marginals=1, rho=1, identifier="who", max_rows=2).measure(frame, ledger="a.ledger")
        with pytest.raises(rs.Refused):
            rs.plan(rs.Domain(a=2), marginals=1, rho=1).measure(frame, ledger="a.ledger")


def test_pickling(release, domain, plan):
    """Everything, and without the true counts of the notes."""
    for thing in (domain, domain["age"], release.query(), rs.weights([1.0, 2.0]), rs.Error("a"), rs.NotFoundError("b")):
        pickle.loads(pickle.dumps(thing))
    again = pickle.loads(pickle.dumps(plan))
    assert again.noise_scales.tolist() == plan.noise_scales.tolist()
    clamped = rs.plan(rs.Domain(a=rs.integers(0, 1, outside="clamp")), marginals=1, rho=1).measure(
        pd.DataFrame({"a": [7]}), ledger="a.ledger"
    )
    assert clamped.notes
    content = pickle.dumps(clamped)
    assert pickle.loads(content).notes == []
    assert pickle.loads(content).query() == clamped.query()
    spec = rs.Spec(domain, marginals="<=2", rho=0.5)
    assert pickle.loads(pickle.dumps(spec)).text == spec.text
    spec.save("spec.toml")
    for read in (rs.Spec.read("spec.toml"), rs.Spec.read("spec.toml").replace(rho=2)):
        copied = pickle.loads(pickle.dumps(read))
        assert copied.text == read.text
        assert rs.plan(copied).privacy == rs.plan(read).privacy


def test_notebooks_show(domain, plan, release):
    for thing in (domain, plan, release, rs.Ledger("people.ledger")):
        shown = thing._repr_html_()
        assert shown.count("<tr>") == shown.count("</tr>") >= 3
    assert "&lt;script&gt;" in rs.Domain({"<script>": 2})._repr_html_()
    assert "and 71 more" in rs.Domain({f"c{k}": 2 for k in range(101)})._repr_html_()
    assert "3000" not in release._repr_html_()


def test_a_grant_on_the_gaussian_curve_is_not_shown_as_zero():
    rs.Ledger.create("curve.ledger", mu="1/2", reason="board decision of 3 May")
    shown = rs.Ledger("curve.ledger")._repr_html_()
    assert "<th>mu^2</th>" in shown
    assert "<td></td><td>0.25</td>" in shown
    rs.Ledger.create("rho.ledger", rho="1/2", reason="board decision of 3 May")
    assert "<td>0.5</td><td></td>" in rs.Ledger("rho.ledger")._repr_html_()


def test_errors_are_pythons_own_too():
    for path, call in (("a.json", rs.load_plan), ("a.parquet", rs.load_release), ("a.toml", rs.Spec.read), ("a.ledger", rs.Ledger)):
        with pytest.raises(FileNotFoundError, match=path) as raised:
            call(path)
        assert isinstance(raised.value, rs.Error)
    with pytest.raises(ValueError, match="cuts must increase"):
        rs.Spec(rs.Domain(a=rs.cuts(2, 1)))
    with pytest.raises(ValueError, match="confidence"):
        rs.Estimate(1.0, 1.0).interval(2)
    assert not issubclass(rs.Refused, ValueError)
    assert rs.load is rs.load_release
