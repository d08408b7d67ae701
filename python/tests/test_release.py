"""Releases: read back as the command line reads them, with error bars that hold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import residua as rs


def test_command_line_reads_what_python_measured(release, cli):
    release.save("people.parquet")
    cli("verify", "people.parquet")
    cli("tables", "people.parquet", "--format", "csv", "--digits", "full", "-o", "tables")
    for names, table in release.tables().items():
        file = Path("tables", ("_x_".join(names) or "total") + ".csv")
        theirs = pd.read_csv(file, keep_default_na=False)
        # Files have the bounds of prefix sums beside their labels.
        bounds = [f"{name}_{end}" for name in names for end in ("lower", "upper")]
        assert [name for name in theirs.columns if name not in bounds] == table.columns.tolist()
        for column in names:
            ours = ["null" if pd.isna(label) else str(label) for label in table[column]]
            assert theirs[column].astype(str).tolist() == ours
        for column in ("estimate", "std_dev", "ci_lower", "ci_upper"):
            assert np.allclose(theirs[column], table[column], rtol=1e-9, atol=1e-6)


def test_python_reads_what_the_command_line_measured(domain, people_csv, cli):
    rs.Spec(domain, marginals="<=2", rho=0.5, source=people_csv, ledger="people.ledger").save("people.toml")
    cli("plan", "people.toml", "-o", "plan.json")
    cli("measure", "plan.json", "-o", "people.parquet")
    release = rs.load("people.parquet")
    question = "age=18..30 sex=female"
    told = json.loads(cli("query", "people.parquet", question, "--json"))["answers"][0]
    ours = release.query(age=(18, 30), sex="female")
    assert (ours.value, ours.std_dev) == pytest.approx((told["estimate"], told["std_dev"]), rel=1e-12)
    assert ours.interval() == pytest.approx((told["ci_lower"], told["ci_upper"]), rel=1e-12)
    told = json.loads(cli("query", "people.parquet", "--covariance", "sex=female", "sex=male", "--json"))
    compared = release.compare("sex=female", "sex=male")
    assert compared.covariance == pytest.approx(told["covariance"], rel=1e-12)
    assert compared.correlation == pytest.approx(told["correlation"], rel=1e-12)
    assert compared.difference.std_dev == pytest.approx(told["difference"]["std_dev"], rel=1e-12)
    assert compared.sum.std_dev == pytest.approx(told["sum"]["std_dev"], rel=1e-12)
    assert compared.ratio == pytest.approx((told["ratio"]["ci_lower"], told["ratio"]["ci_upper"]), rel=1e-9)
    # The ledger knows of it here as there: a plan is measured once.
    with pytest.raises(rs.Refused, match="measured before"):
        rs.load_plan("plan.json").measure()
    assert rs.Ledger("people.ledger").entries()["kind"].tolist() == ["granted", "spent", "refused"]


def test_python_measures_the_command_lines_plan(domain, people_csv, cli):
    rs.Spec(domain, marginals=1, rho=0.5, source=people_csv, ledger="people.ledger").save("people.toml")
    cli("plan", "people.toml", "-o", "plan.json")
    rs.load_plan("plan.json").measure(to="people.parquet")
    cli("verify", "people.parquet")
    assert "measured before" in cli("measure", "plan.json", "-o", "other.parquet", exit_code=2)


def test_error_bars_hold(domain, people):
    """Of the cells' 95 % intervals about 5 % miss; the estimates' errors have their variances."""
    plan = rs.plan(domain, tables=[["education", "income"]], rho=0.5)
    binned = pd.cut(people["income"], [-np.inf, 5000, 10_000, 20_000, 40_000, 80_000, np.inf], labels=False)
    truth = np.zeros((7, 6))
    levels = ["primary", "secondary", "vocational", "bachelor", "master", "doctorate"]
    rows = [levels.index(e) if isinstance(e, str) else 6 for e in people["education"]]
    np.add.at(truth, (rows, binned.to_numpy()), 1)
    errors = []
    for attempt in range(60):
        release = plan.measure(people, ledger=f"{attempt}.ledger")
        errors.append((release.estimates("education", "income") - truth) / np.sqrt(release.variances("education", "income")))
    z = np.array(errors)
    # 60 draws of 42 cells: the mean square of independent ones would be within 1 +- 5 * 0.028.
    def holds(errors):
        covered = (abs(errors) < 1.959964).mean()
        return abs((errors**2).mean() - 1) < 0.14 and abs(covered - 0.95) < 0.03

    assert holds(z)
    assert not holds(1.15 * z)
    assert not holds(z / 1.15)


def test_tables(release):
    table = release.table("age", "sex", confidence=0.5)
    assert table.columns.tolist() == ["age", "sex", "estimate", "std_dev", "ci_lower", "ci_upper"]
    assert len(table) == 200
    assert table["age"].iloc[61] == "<=30"
    assert release.table("age", answers="cells")["age"].dtype == np.int64
    assert pd.isna(release.table("education")["education"].iloc[-1])
    assert release.table("income")["income"].iloc[1] == "(5000, 10000]"
    assert release.table("income")["income"].dtype.ordered
    assert len(release.table()) == 1
    halves = (table["ci_upper"] - table["ci_lower"]) / 2
    assert np.allclose(halves, 0.67448975 * table["std_dev"])
    assert np.allclose(release.variances("age", "sex").ravel(), table["std_dev"] ** 2)
    assert np.allclose(release.estimates("age", "sex").ravel(), table["estimate"])
    assert np.allclose(release.variances("age", "sex"), release.plan.variances("age", "sex"), rtol=1e-6)


def test_tables_agree(release):
    ages = release.estimates("age", "sex", answers="cells").sum(axis=1)
    assert np.allclose(ages, release.estimates("age", answers="cells"))
    assert release.query().value == pytest.approx(release.estimates().item())


class TestQuestions:
    def test_terms_are_words(self, release):
        pairs = [
            ({"age": (18, 30), "sex": "female"}, "age=18..30 sex=female"),
            ({"age": (65, None)}, "age=65.."),
            ({"age": 7}, "age=7"),
            ({"age": [7, 9]}, "age=7|9"),
            ({"income": (10_000, 40_000)}, "income=10000..40000"),
            ({"income": (None, 5000)}, "income=..5000"),
            ({"education": None}, "education=null"),
            ({"education": ["master", None]}, "education=master|null"),
            ({}, ""),
        ]
        for terms, words in pairs:
            assert release.query(terms) == release.query(**terms) == release.query(words)

    def test_weights(self, release):
        weights = np.zeros(100)
        weights[18:31] = 1
        by_range = release.query(age=(18, 30), sex="male")
        by_weight = release.query(age=rs.weights(weights), sex="male")
        assert by_weight.value == pytest.approx(by_range.value)
        assert by_weight.std_dev == pytest.approx(by_range.std_dev)
        sum_of_ages = release.query(age=rs.weights(np.arange(100)))
        cells = release.estimates("age", answers="cells")
        assert sum_of_ages.value == pytest.approx(cells @ np.arange(100))
        assert release.covariance(by_weight, by_weight) == pytest.approx(by_weight.variance)

    def test_names_and_values_with_anything_in_them(self):
        domain = rs.Domain({"net income": ['a|b "c"', "d..e", "null"]})
        plan = rs.plan(domain, marginals=1, pcost=80)
        frame = pd.DataFrame({"net income": ['a|b "c"', "d..e", "d..e", "null"]})
        release = plan.measure(frame, ledger="a.ledger")
        for value, count in (('a|b "c"', 1), ("d..e", 2), ("null", 1)):
            assert round(release.query({"net income": value}).value) == count

    @pytest.mark.parametrize(
        ("question", "message"),
        [
            ({"aeg": 3}, "'aeg'.*age"),
            ({"age": 100}, "'age' has no value '100'; its values are 0 to 99"),
            ({"age": (30, 18)}, "is empty or reversed"),
            ({"age": (1, 2, 3)}, "asks for a tuple of 3"),
            ({"age": [1, 1]}, "twice"),
            ({"sex": "f"}, "'sex' has no value 'f'; its values are female, male"),
            ({"income": (1, 2)}, "must begin and end at its cuts"),
            ({"age": rs.weights(np.ones(3))}, "100"),
            ({"age": np.ones(3)}, "'age' asks for a label twice; a weight for each cell is residua.weights"),
            (3, "a question is a text, a dictionary or terms, not int"),
            ({"age": 1, "sex": "male", "education": "master"}, "measured"),
            ("age", "is not NAME=VALUES"),
        ],
    )
    def test_messages(self, release, question, message):
        with pytest.raises(rs.Error, match=message):
            release.query(question)

    def test_an_estimate_of_nothing(self, release):
        with pytest.raises(rs.Error, match="was not made by query"):
            release.covariance(rs.Estimate(1.0, 1.0), "")
        with pytest.raises(rs.Error, match="confidence"):
            release.query().interval(1)


def test_save_never_overwrites(release):
    release.save("a.parquet")
    with pytest.raises(rs.Refused, match="exists already"):
        release.save("a.parquet")
    rs.verify("a.parquet")
    loaded = rs.load("a.parquet")
    for names in release.plan.base_mechanisms:
        assert (loaded.residuals(*names) == release.residuals(*names)).all()


def test_an_output_replaces_only_its_like(release):
    release.save("a.parquet")
    measured = Path("a.parquet").read_bytes()
    Path("data.csv").write_text("x\n1\n", encoding="utf-8")
    with pytest.raises(rs.Refused, match="data.csv: exists and is not a plan.*another path"):
        release.plan.save("data.csv")
    with pytest.raises(rs.Refused, match="a.parquet: exists and is not a page.*another path"):
        release.page("a.parquet")
    assert Path("a.parquet").read_bytes() == measured
    assert Path("data.csv").read_text(encoding="utf-8") == "x\n1\n"
    for _ in range(2):
        release.plan.save("plan.json")
        release.page("page.html")


def test_a_changed_release_is_refused(release):
    release.save("a.parquet")
    content = bytearray(Path("a.parquet").read_bytes())
    content[len(content) // 4] ^= 1
    Path("a.parquet").write_bytes(content)
    with pytest.raises(rs.Error):
        rs.load("a.parquet")
    Path("b.parquet").write_text("no")
    with pytest.raises(rs.Error, match="is not a measurement file; make one with measure and save"):
        rs.load("b.parquet")


def test_wide_residuals():
    """Integers past 64 bits come as Python's own."""
    domain = rs.Domain({f"c{i}": rs.size(1000) for i in range(7)})
    plan = rs.plan(domain, tables=[["c0"], ["c1", "c2"]], pcost="1/1000000000000000000000000")
    frame = pd.DataFrame({f"c{i}": [1] for i in range(7)})
    release = plan.measure(frame, ledger="wide.ledger")
    values = release.residuals("c1", "c2")
    assert max(abs(int(value)) for value in values) > 2**40
    release.save("wide.parquet")
    assert (rs.load("wide.parquet").residuals("c1", "c2") == values).all()
