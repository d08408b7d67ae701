"""Answers are of the release, the label and the attribute that were asked for."""

from __future__ import annotations

import datetime
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest

import residua as rs
from conftest import example_release


def measured(domain, frame, name="a", **plan):
    settings = {"marginals": "<=2", "pcost": 90, **plan}
    return rs.plan(rs.Domain(domain), **settings).measure(pd.DataFrame(frame), ledger=f"{name}.ledger")


class TestTwoReleases:
    @pytest.fixture
    def two(self):
        domain = {"sex": ["female", "male"]}
        many = measured(domain, {"sex": ["female"] * 300 + ["male"] * 50}, "many")
        few = measured(domain, {"sex": ["female"] * 10 + ["male"] * 500}, "few")
        return many, few

    def test_estimates_know_their_release(self, two):
        """The difference of two releases is not that of one and the same."""
        many, few = two
        compared = many.compare(many.query(sex="female"), few.query(sex="female"))
        assert compared.difference.value == pytest.approx(290, abs=3)
        assert compared.covariance == 0
        assert compared.difference.variance == pytest.approx(
            many.query(sex="female").variance + few.query(sex="female").variance
        )
        assert few.compare(many.query(sex="female"), "sex=male").difference.value == pytest.approx(-200, abs=3)

    def test_one_release_read_twice(self, two):
        """It has the same noise, wherever it was read from."""
        many, _ = two
        many.save("many.parquet")
        again = rs.load_release("many.parquet")
        women = many.query(sex="female")
        assert many.covariance(women, again.query(sex="female")) == pytest.approx(women.variance)
        assert many.compare(women, again.query(sex="female")).difference.std_dev == pytest.approx(0, abs=1e-7)
        assert pickle.loads(pickle.dumps(many)).covariance(women, "sex=female") == pytest.approx(women.variance)

    def test_one_plan_measured_twice(self):
        """Two measurements of the same data have noise of their own."""
        plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, pcost=1)
        frame = pd.DataFrame({"sex": ["male"] * 9})
        one, other = (plan.measure(frame, ledger=f"{k}.ledger") for k in range(2))
        assert one.covariance(one.query(), other.query()) == 0

    def test_the_noise_is_independent(self):
        """The errors of differences have the variance that is stated."""
        plan = rs.plan(rs.Domain(cell=3000), marginals=1, pcost=1)
        frame = pd.DataFrame({"cell": np.arange(3000)})
        a, b = (plan.measure(frame, ledger=f"{which}.ledger") for which in "ab")
        std_dev = a.compare(a.query(cell=7), b.query(cell=7)).difference.std_dev
        mean_square = np.mean(((a.estimates("cell") - b.estimates("cell")) / std_dev) ** 2)
        # Of 3000 standard normals: 1 +- 5 standard deviations.
        assert abs(mean_square - 1) < 5 * np.sqrt(2 / 3000)


def test_attributes_named_like_the_numbers():
    names = ("estimate", "std_dev", "ci_lower", "ci_upper", "table")
    release = measured({name: ["x", "y"] for name in names}, {name: ["x", "y", "y"] for name in names})
    for name in names:
        table = release.table(name)
        assert table.columns.tolist() == [f"{name}_", "estimate", "std_dev", "ci_lower", "ci_upper"]
        assert table[f"{name}_"].tolist() == ["x", "y"]
        assert len(release.table(*names[:2])) == 4
    assert set(release.to_arrow().column_names) == {"table", *(f"{n}_" for n in names), *names[:4]}


class TestTerms:
    @pytest.fixture
    def release(self):
        return measured({"m": rs.values(1, 2, 3, null=True), "k": 2}, {"m": [1, 1, 2, 3, 3, 3, None], "k": [0] * 7})

    @pytest.mark.parametrize(
        "labels",
        [[1, 3], np.array([1, 3]), np.array([1.0, 3.0]), pd.Series([1, 3]), pd.Index([1, 3]), {1, 3}, rs.isin(1, 3), rs.isin([1, 3])],
    )
    def test_labels(self, release, labels):
        assert abs(release.query(m=labels).value - 5) < 1
        assert release.query(m=labels) == release.query("m=1|3")

    def test_missing(self, release):
        for missing in (None, np.nan, pd.NA, pd.NaT, [None], rs.isin(None)):
            assert abs(release.query(m=missing).value - 1) < 1

    def test_ranges_and_weights(self, release):
        assert release.query(m=rs.between(2, 3)) == release.query(m=(2, 3))
        assert release.query(m=rs.between(2)) == release.query(m=(2, None))
        weighted = release.query(m=rs.weights([10, 1, 0, 0]))
        cells = release.estimates("m")
        assert weighted.value == pytest.approx(10 * cells[0] + cells[1])
        assert repr(rs.between(2, 3)) == "residua.between(2, 3)"
        with pytest.raises(rs.InputError, match="weights: expected one dimension, found 2"):
            rs.weights([[1, 2]])


class TestLabels:
    @pytest.fixture
    def frame(self):
        rows = pd.DataFrame(
            {
                "age": [3, 4, 4],
                "code": [1.0, np.nan, 2.0],
                "member": [True, False, True],
                "name": ["007", "x", None],
                "day": pd.to_datetime(["2013-01-02", "2013-01-03", "2013-01-03"]),
                "month": pd.to_datetime(["2013-01-02", "2013-03-31", "2013-03-01"]),
            }
        )
        return pd.concat([rows] * 100, ignore_index=True)

    @pytest.fixture
    def release(self, frame):
        domain = {
            "age": rs.integers(0, 9),
            "code": rs.values(1, 2, null=True),
            "member": rs.values(True, False),
            "name": rs.values("007", "x", null=True),
            "day": rs.dates("2013-01-01", "2013-01-05"),
            "month": rs.dates("2013-01-01", "2013-12-31", every="month"),
        }
        return measured(domain, frame, marginals=1)

    def test_types(self, release):
        def column(name):
            return release.table(name)[name]

        assert column("age").dtype == np.int64
        assert column("code").dtype == "Int64"
        assert column("code").isna().tolist() == [False, False, True]
        assert column("member").dtype == np.bool_
        assert column("name").tolist()[:2] == ["007", "x"]
        assert pd.isna(column("name").iloc[2])
        assert column("day").iloc[0] == pd.Timestamp("2013-01-01")
        assert column("month").iloc[2] == pd.Timestamp("2013-03-01")

    def test_merging(self, release, frame):
        """Every row of the data finds its estimate."""
        starts = frame.assign(month=frame["month"].dt.to_period("M").dt.start_time)
        for name in frame:
            merged = starts[[name]].merge(release.table(name), on=name, how="left")
            counts = starts[name].map(starts[name].value_counts(dropna=False))
            assert len(merged) == len(frame)
            if name not in ("code", "name"):
                assert np.allclose(merged["estimate"], counts, atol=6), name
            assert merged["estimate"].between(90, 210).all(), name

    def test_labels_of_tables_are_terms(self, release):
        for name in release.plan.sizes:
            table = release.table(name)
            for label, estimate in zip(table[name], table["estimate"], strict=True):
                assert release.query({name: label}).value == pytest.approx(estimate), (name, label)
            assert release.query({name: table[name]}).value == pytest.approx(table["estimate"].sum())

    def test_ranges_of_dates(self, release):
        first, last = datetime.date(2013, 1, 1), datetime.date(2013, 3, 31)
        assert release.query(month=(first, last)) == release.query("month=2013-01..2013-03")
        assert release.query(day=(first, datetime.datetime(2013, 1, 3))) == release.query("day=2013-01-01..2013-01-03")
        with pytest.raises(rs.InputError, match="begins or ends within a month"):
            release.query(month=(first, datetime.date(2013, 3, 30)))

    @pytest.mark.parametrize("every", ["week", "quarter", "year"])
    def test_periods(self, every):
        domain = {"day": rs.dates("2013-01-01", "2014-12-31", every=every)}
        release = measured(domain, {"day": ["2013-05-01", "2014-12-30"]}, marginals=1)
        table = release.table("day")
        frequency = {"week": "W", "quarter": "Q", "year": "Y"}[every]
        expected = pd.period_range("2013-01-01", "2014-12-31", freq=frequency).start_time
        assert table["day"].tolist() == list(expected)
        for label, estimate in zip(table["day"], table["estimate"], strict=True):
            assert release.query(day=label).value == pytest.approx(estimate)


def test_order_of_attributes(release):
    ours, theirs = release.table("sex", "age"), release.table("age", "sex")
    assert ours.columns.tolist()[:2] == ["sex", "age"]
    assert ours["age"].tolist()[:3] == ["<=0", "<=1", "<=2"]
    merged = ours.merge(theirs, on=["age", "sex"])
    assert len(merged) == 200
    assert np.allclose(merged["estimate_x"], merged["estimate_y"])
    for array in (release.estimates, release.variances, release.plan.variances):
        assert np.allclose(array("sex", "age"), array("age", "sex").T)
    full = release.plan.covariances("income", "sex")
    assert np.allclose(np.diag(full), release.plan.variances("income", "sex").ravel())


PUBLIC = {
    "plan": lambda **a: rs.plan(rs.Domain(a=2), marginals=1, rho=1, **a),
    "measure": lambda **a: rs.plan(rs.Domain(a=2), marginals=1, rho=1).measure(pd.DataFrame({"a": [0]}), **{"ledger": "t.ledger", **a}),
    "release": lambda **a: rs.plan(rs.Domain(a=2), marginals=1, rho=1).release(pd.DataFrame({"a": [0]}), **{"ledger": "t.ledger", **a}),
    "table": lambda **a: example_release().table("age", **a),
    "tables": lambda **a: example_release().tables(**a),
    "adjusted": lambda **a: example_release().adjusted(**a),
    "to_arrow": lambda **a: example_release().to_arrow(**a),
    "to_pandas": lambda **a: example_release().to_pandas(**a),
    "estimates": lambda **a: example_release().estimates("age", **a),
    "variances": lambda **a: example_release().variances("age", **a),
    "compare": lambda **a: example_release().compare("sex=male", "", **a),
    "interval": lambda **a: rs.Estimate(1.0, 1.0).interval(**a),
    "labels": lambda **a: example_release().plan.labels("age", **a),
    "create": lambda **a: rs.Ledger.create(**{"path": "n.ledger", "rho": 1, "reason": "r", **a}),
    "grant": lambda **a: rs.Ledger(rs_ledger()).grant(**{"rho": 1, "reason": "r", **a}),
    "forgive": lambda **a: rs.Ledger(rs_ledger()).forgive(**{"entry": 1, "reason": "r", **a}),
}
OWNERS = {"plan": rs, "measure": rs.Plan, "release": rs.Plan, "labels": rs.Plan, "interval": rs.Estimate,
          "create": rs.Ledger, "grant": rs.Ledger, "forgive": rs.Ledger}


def rs_ledger():
    example_release()
    return "example0.ledger"


def wrong_arguments():
    for name in PUBLIC:
        function = getattr(OWNERS.get(name, rs.Release), name)
        for argument in inspect.signature(function).parameters.values():
            if argument.kind is argument.KEYWORD_ONLY or argument.name in ("answers", "confidence", "entry", "path"):
                if argument.name not in ("progress", "more"):
                    yield name, argument.name


@pytest.mark.parametrize(("name", "argument"), list(wrong_arguments()))
def test_messages_for_wrong_types_name_the_argument(name, argument):
    """And no signature of the extension."""
    with pytest.raises((rs.Error, TypeError)) as raised:
        PUBLIC[name](**{argument: object()})
    message = str(raised.value)
    assert argument in message
    assert "incompatible function arguments" not in message
    assert "_residua" not in message


def test_attributes_must_be_texts(release):
    for call in (release.table, release.estimates, release.plan.variances, release.residuals):
        with pytest.raises(rs.InputError, match="attributes: expected a text, found 3"):
            call(3)


def test_arguments_are_not_ignored():
    with pytest.raises(rs.Error, match="both queries and hierarchy are given; keep one"):
        rs.integers(0, 1, queries="prefix", hierarchy={"all": [0, 1]})
    with pytest.raises(rs.Error, match="strategy is given without a matrix"):
        rs.integers(0, 1, queries="prefix", strategy=np.eye(2))
    assert rs.Spec(rs.Domain(age=2, b=2), tables="age").tables == [("age",)]
    assert rs.Spec(rs.Domain(age=2, b=2), tables=["age", "b"]).tables == [("age",), ("b",)]
    with pytest.raises(TypeError, match="margnals"):
        rs.plan(rs.Domain(a=2), margnals=1, rho=1)


def test_attributes_in_a_list(release):
    with pytest.raises(rs.InputError, match="found a list; name them one by one: 'age', 'sex'"):
        release.table(["age", "sex"])


@pytest.mark.parametrize("weights", [{1: 2.0}, pd.Series([2.0], index=[1]).to_dict()])
def test_weights_by_label_are_not_labels(weights):
    """Their numbers would be lost."""
    release = measured({"a": 5}, {"a": [1, 2]})
    with pytest.raises(rs.InputError, match="'a' asks for a dictionary.*residua.weights"):
        release.query(a=weights)
    with pytest.raises(rs.InputError):
        release.query(a=rs.isin(weights))


def test_misspelt_arguments_are_named():
    domain = rs.Domain(a=2)
    for call in (lambda: rs.plan(domain, margnals=1), lambda: rs.Spec(domain).replace(margnals=1)):
        with pytest.raises(TypeError, match="^there is no argument 'margnals'; did you mean 'marginals'\\?$"):
            call()
    with pytest.raises(rs.InputError, match='marginals: expected a number or a text such as "<=2"'):
        rs.plan(domain, marginals=[1, 2], rho=1)
    with pytest.raises(rs.InputError, match="null: expected True or False"):
        rs.integers(0, 9, null="yes")


def test_values_that_pandas_made_floats():
    """A column with missing values lists 1.0 for 1."""
    frame = pd.DataFrame({"k": [1.0, 2.0, np.nan, 1.0]})
    listed = frame["k"].dropna().unique()
    release = measured({"k": rs.values(listed, null=True)}, frame, marginals=1)
    table = release.table("k")
    assert table["k"].tolist() == [1, 2, pd.NA]
    assert table["estimate"].round().tolist() == [2, 1, 1]
    for missing in (None, np.nan, np.float32("nan"), pd.NA, pd.NaT):
        with pytest.raises(rs.InputError, match="among the values; missing values have a cell with null=True"):
            rs.values(1, missing)
    with pytest.raises(rs.InputError, match="values: expected texts, whole numbers, True or False, found 0.5"):
        rs.Spec(rs.Domain(a=rs.values(0.5, 1)))


@pytest.mark.parametrize("written", [("True", "False"), ("TRUE", "FALSE"), ("true", "false")])
def test_truth_in_a_file(written):
    """As pandas, R and others write it."""
    with open("a.csv", "w", encoding="utf-8") as file:
        print("late", *[written[0]] * 30, written[1], sep="\n", file=file)
    plan = rs.plan(rs.Domain(late=[False, True]), marginals=1, pcost=90)
    table = plan.measure("a.csv").table("late")
    assert table["late"].tolist() == [False, True]
    assert table["estimate"].round().tolist() == [1, 30]


def test_numbers_agree_with_their_nouns():
    release = measured({"a": 5}, {"a": [1, 2]}, marginals=1)
    assert repr(release) == "<residua.Release: 1 table of 1 attribute, 5 cells, rho 45>"


def test_half_a_surrogate_pair(release):
    """It is in no text that a domain, a file or a question can have."""
    asked = [lambda text: release.query(text), lambda text: release.query(sex=text), release.table]
    asked += [lambda text: release.query({text: "a"}), lambda text: rs.init(f"{text}.csv")]
    asked += [lambda text: rs.init(pd.DataFrame([["a"]], columns=pd.Index([text], dtype=object)))]
    for ask in asked:
        with pytest.raises(rs.InputError, match="not valid Unicode; correct it"):
            ask("\udc80")


def test_weights_beyond_doubles(release):
    """No answer is NaN, and no error 0 that is not."""
    cells = release.plan.sizes["age"]
    for weight in 1e308, 1e200, 1e-200:
        with pytest.raises(rs.InputError, match="weights are too large or too small to compute with"):
            release.query(age=rs.weights([weight] * (cells - 1) + [0]))
    nothing = release.query(age=rs.weights([0] * cells))
    assert (nothing.value, nothing.std_dev) == (0, 0)
    assert release.compare(nothing, "sex=male").correlation == 0
    large = release.query(age=rs.weights([1e70] * (cells - 1) + [0]))
    compared = release.compare(large, "sex=male")
    assert np.isfinite([compared.covariance, compared.correlation, *compared.ratio]).all()
