"""Several releases of the same data."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import residua as rs


@pytest.fixture
def frame():
    random = np.random.default_rng(5)
    return pd.DataFrame(
        {"age": random.integers(0, 10, 300), "sex": random.choice(["female", "male"], 300)}
    )


@pytest.fixture
def same():
    return rs.Domain(age=rs.integers(0, 9, queries="prefix"), sex=["female", "male"])


@pytest.fixture
def ledger():
    rs.Ledger.create("same.ledger", rho=10, reason="a test")
    return "same.ledger"


def test_the_second_is_planned_given_the_first(frame, same, ledger):
    first = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    plan = rs.plan(same, marginals="<=2", rho=0.25, after=first)
    assert plan.rmse < rs.plan(same, marginals="<=2", rho=0.25).rmse
    assert plan.relative_gap < 1e-6
    assert plan.privacy.pcost <= 0.5
    both = rs.combine(first, plan.measure(frame, ledger=ledger))
    assert both.plan.privacy.pcost == first.plan.privacy.pcost + plan.privacy.pcost
    assert [part.privacy.rho for part in both.plan.parts] == [
        first.plan.privacy.rho,
        plan.privacy.rho,
    ]
    # The errors are those that the plan said.
    cells = both.variances("age", "sex")
    told = plan.errors()
    assert told["std_dev"].iloc[-1] == pytest.approx(cells.mean() ** 0.5, rel=1e-9)
    estimate = both.query(sex="female")
    assert estimate.release is both
    assert estimate.std_dev < first.query(sex="female").std_dev


def test_combined_estimates_are_means_by_precision(frame, same, ledger):
    plan = rs.plan(same, marginals="<=1", rho=0.5)
    a = plan.measure(frame, ledger=ledger)
    b = rs.plan(same, marginals="<=1", rho=1, after=a).measure(frame, ledger=ledger)
    both = rs.combine(a, b)
    left, right, middle = (release.query("") for release in (a, b, both))
    weights = np.array([1 / left.variance, 1 / right.variance])
    assert middle.variance == pytest.approx(1 / weights.sum(), rel=1e-9)
    mean = weights @ [left.value, right.value] / weights.sum()
    assert middle.value == pytest.approx(mean, abs=1e-4 * middle.std_dev)


def test_saved_and_loaded(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger, to="a.parquet")
    b = rs.plan(same, marginals="<=1", rho=0.5, after=a).measure(frame, ledger=ledger)
    both = rs.combine(rs.load("a.parquet"), b)
    both.save("both.parquet")
    rs.verify("both.parquet")
    assert rs.load("both.parquet").query(sex="male") == both.query(sex="male")
    with pytest.raises(rs.Refused, match="measurement in common"):
        rs.combine(rs.load("both.parquet"), a)
    with pytest.raises(rs.Refused, match="not measured itself"):
        both.plan.measure(frame, ledger=ledger)


def test_refusals(frame, same, ledger):
    plan = rs.plan(same, marginals="<=1", rho=0.5)
    a = plan.measure(frame, ledger=ledger)
    with pytest.raises(rs.Refused, match="measurement in common"):
        rs.combine(a, a)
    with pytest.raises(rs.Error, match="at least two"):
        rs.combine(a)
    with pytest.raises(rs.InputError, match="expected residua.Release"):
        rs.combine(a, plan)
    other = plan.measure(frame, ledger="other.ledger")
    with pytest.raises(rs.Refused, match="different data"):
        rs.combine(a, other)
    with pytest.raises(rs.InputError, match="expected a residua.Release"):
        rs.plan(same, marginals=1, rho=1, after=[plan])
    with pytest.raises(rs.InputError, match="loss of your own"):
        rs.plan(same, marginals=1, rho=1, after=a, loss=lambda v: (v.sum(), np.ones_like(v)))


def test_estimates_that_share_noise_are_not_taken_for_independent(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    b = rs.plan(same, marginals="<=1", rho=0.5, after=a).measure(frame, ledger=ledger)
    both = rs.combine(a, b)
    assert a.covariance(a.query(sex="male"), b.query(sex="male")) == 0
    with pytest.raises(rs.InputError, match="share noise"):
        both.compare(both.query(sex="male"), a.query(sex="male"))


def test_what_cannot_be_combined_is_left_out_with_a_warning(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    b = rs.plan(same, marginals="<=1", rho=0.5, basis="orthogonal").measure(frame, ledger=ledger)
    with pytest.warns(UserWarning, match="age"):
        both = rs.combine(a, b)
    assert both.query(sex="male").variance < a.query(sex="male").variance


def test_a_whole_release_needs_the_earlier_ones(frame, same, ledger):
    a = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
    more = rs.plan(same, marginals="<=1", rho=0.5, after=a)
    spent = len(rs.Ledger(ledger).entries())
    with pytest.raises(rs.Refused, match="combine it with those"):
        more.release(frame, "folder", ledger=ledger)
    assert len(rs.Ledger(ledger).entries()) == spent


class TestWholeReleaseAfter:
    def test_of_a_release_in_memory(self, frame, same, ledger, cli):
        first = rs.plan(same, marginals="<=1", rho=0.5).measure(frame, ledger=ledger)
        more = rs.plan(same, marginals="<=2", rho=0.25, after=first)
        both = more.release(frame, "folder", ledger=ledger, after=first, title="Both")
        assert both.plan.privacy.pcost == first.plan.privacy.pcost + more.privacy.pcost
        assert [part.privacy.rho for part in both.plan.parts] == [
            first.plan.privacy.rho,
            more.privacy.rho,
        ]
        assert rs.Ledger(ledger).balance[1] == both.plan.privacy.pcost / 2
        # The command line combines the same parts to the same bytes.
        first.save("first.parquet")
        cli("combine", "first.parquet", "folder/measurements.parquet", "-o", "theirs.parquet")
        assert Path("theirs.parquet").read_bytes() == Path("folder/combined.parquet").read_bytes()
        cli("verify", "folder/combined.parquet")
        # The tables are those of both.
        assert rs.load("folder").query(sex="male") == both.query(sex="male")
        published = pd.read_csv("folder/tables/sex.csv")
        assert published["estimate"].to_numpy() == pytest.approx(
            both.table("sex")["estimate"].to_numpy(), abs=0.1 * published["std_dev"].min()
        )
        # The same call again reads the folder, and spends nothing.
        entries = len(rs.Ledger(ledger).entries())
        again = more.release(frame, "folder", ledger=ledger, after=[first], title="Both")
        assert again.query("") == both.query("")
        assert len(rs.Ledger(ledger).entries()) == entries

    def test_as_the_command_line_does(self, frame, cli):
        """With a copy of the data and its ledger, because a plan is measured once."""
        Path("theirs").mkdir()
        frame.to_csv("theirs/people.csv", index=False)
        rs.Ledger.create("theirs/people.csv.ledger", rho=10, reason="a test")
        for name, marginals, rho in (("first", "<=1", 0.5), ("more", "<=2", 0.25)):
            Path(f"theirs/{name}.toml").write_text(
                f"""
                data.source = "people.csv"
                privacy.rho = {rho}
                workload.marginals = "{marginals}"
                attributes.age = {{ integers = [0, 9], queries = "prefix" }}
                attributes.sex = {{ values = ["female", "male"] }}
                """
            )
        cli("release", "theirs/first.toml", "-o", "theirs/first", "--yes")
        for before, after in (("first", "second"), ("second", "third")):  # a combination, then
            shutil.rmtree("ours", ignore_errors=True)
            shutil.copytree("theirs", "ours")
            more, earlier = "theirs/more.toml", f"theirs/{before}"
            cli("release", more, "--after", earlier, "-o", f"theirs/{after}", "--yes")
            plan = rs.plan("ours/more.toml", after=rs.load(f"ours/{before}"))
            made = plan.release(folder=f"ours/{after}", after=rs.load(f"ours/{before}"))
            theirs, ours = Path("theirs", after), Path("ours", after)
            assert (ours / "plan.json").read_bytes() == (theirs / "plan.json").read_bytes()
            names = sorted(path.relative_to(theirs) for path in theirs.rglob("*"))
            assert Path("combined.parquet") in names
            assert sorted(path.relative_to(ours) for path in ours.rglob("*")) == names
            right, left = (pd.read_csv(f / "tables/age_x_sex.csv") for f in (theirs, ours))
            assert left["std_dev"].tolist() == right["std_dev"].tolist()
            assert left["estimate"].tolist() != right["estimate"].tolist()  # noise of its own
            assert made.plan.privacy == rs.load(theirs).plan.privacy
            balances = {rs.Ledger(f"{f}/people.csv.ledger").balance for f in ("theirs", "ours")}
            assert len(balances) == 1

    def test_refusals(self, frame, same, ledger):
        plan = rs.plan(same, marginals="<=1", rho=0.5)
        a = plan.measure(frame, ledger=ledger)
        b = plan.measure(frame, ledger=ledger, again=True)
        other = plan.measure(frame, ledger="other.ledger")
        entries = len(rs.Ledger(ledger).entries())

        def refused(planned_after, after, message, kind=rs.Refused, **more):
            made = rs.plan(same, marginals="<=1", rho=0.25, after=planned_after)
            with pytest.raises(kind, match=message):
                made.release(frame, "folder", ledger=ledger, after=after, **more)
            assert not Path("folder").exists()
            assert len(rs.Ledger(ledger).entries()) == entries

        refused(other, other, "earlier release 1: measures other data, by the ledger")
        refused([a, other], [a, other], "earlier release 2: measures other data")
        refused(other, other, "measures other data", same_data=True)
        refused((), a, "made without the earlier releases that are named; plan it given them")
        refused(a, b, "adds to other earlier releases")
        refused([a, b], [b, a], "adds to other earlier releases")
        refused([a, b], a, "adds to other earlier releases")
        refused(a, plan, "after: expected a residua.Release, or several", rs.InputError)
        refused(a, "first", "after: expected a residua.Release, or several", rs.InputError)
        refused(a, None, "after: expected a residua.Release, or several", rs.InputError)
        refused(a, a, "same_data", rs.InputError, same_data="yes")

    def test_the_choice_of_rows_is_told(self, frame, ledger):
        """Each release chooses its own rows of a person: the error bars do not cover that."""
        rs.Ledger.create("persons.ledger", rho=10, reason="a test", identifier="who", max_rows=2)
        persons = frame.assign(who=np.arange(len(frame)) // 3)
        domain = rs.Domain(sex=["female", "male"])
        settings = {"marginals": 1, "rho": 0.5, "identifier": "who", "max_rows": 2}
        first = rs.plan(domain, **settings).measure(persons, ledger="persons.ledger")
        more = rs.plan(domain, **settings, after=first)
        with pytest.warns(UserWarning, match="chose its own rows of whoever has more than 2 rows"):
            more.release(persons, "folder", ledger="persons.ledger", after=first)
        with pytest.warns(UserWarning, match="chose its own rows"):
            rs.combine(first, rs.load("folder/measurements.parquet"))
