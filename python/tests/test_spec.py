"""Specs: what Python objects become, exactly, and what is refused under the name of its argument."""

from __future__ import annotations

import datetime
import enum
import json
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import residua as rs

# Names that a format, a language or a message could take for something else.
WEIRD = [
    "net income",
    "it's",
    'the "other"',
    "a.b.c",
    "a\nb",
    "a\r\nb",
    "a\tb",
    "back\\slash",
    "\\n",
    "[attributes.x]",
    "x = 1",
    "# not a comment",
    '"""',
    "'''",
    "{}",
    "{ a = [1] }",
    "%s {0}",
    "true",
    "1979-05-27",
    "1e5",
    "-0",
    "inf",
    "NaN",
    "Größe",
    "年齢",
    "👩‍👩‍👧",
    "e\u0301",
    "\u0085\u2028\u2029",
    "\ufeffbom",
    "\x7f\x01\x1c\x1d\x1e\x1f",
    " ",
    " spaces ",
    "a" * 300,
]


def planned(plan):
    """The domain of a plan file."""
    plan.save("plan.json")
    return json.loads(Path("plan.json").read_text(encoding="utf-8"))["attributes"]


def assert_both_ways(spec):
    """The same plan from Python, from the spec's file, and from the file with an argument."""
    direct = rs.plan(spec)
    spec.save("spec.toml")
    again = rs.Spec.read("spec.toml")
    assert again.tables == spec.tables
    assert dict(again.domain.sizes) == dict(spec.domain.sizes)
    domain = planned(direct)
    assert planned(rs.plan(again)) == domain
    assert planned(rs.plan(again, rho=2)) == domain
    again.save("again.toml")
    assert planned(rs.plan("again.toml")) == domain
    return domain


class TestWeirdNames:
    def test_attributes(self):
        spec = rs.Spec(rs.Domain({name: 2 for name in WEIRD}), marginals=1, rho=1)
        domain = assert_both_ways(spec)
        assert [attribute["name"] for attribute in domain] == WEIRD
        assert list(rs.load_plan("plan.json").sizes) == WEIRD
        assert spec.tables == [(name,) for name in WEIRD]

    def test_values(self):
        spec = rs.Spec(rs.Domain(a=WEIRD), marginals=1, rho=1)
        domain = assert_both_ways(spec)
        assert rs.load_plan("plan.json").labels("a") == WEIRD
        assert domain[0]["values"] == WEIRD

    def test_groups(self):
        values = [f"v{k}" for k in range(len(WEIRD))]
        groups = {name: [value] for name, value in zip(WEIRD, values, strict=True)}
        domain = rs.Domain(a=rs.values(*values, hierarchy={"": groups}))
        assert_both_ways(rs.Spec(domain, marginals=1, rho=1))
        assert rs.load_plan("plan.json").labels("a") == [*values, *WEIRD, ""]

    def test_tables_and_identifier(self):
        domain = rs.Domain({name: 2 for name in WEIRD})
        pairs = list(zip(WEIRD[::2], WEIRD[1::2], strict=False))
        spec = rs.Spec(domain, tables=pairs, rho=1, identifier="a.\n'b'", max_rows=3)
        assert_both_ways(spec)
        assert spec.tables == pairs

    def test_rows_are_counted_under_them(self):
        counts = 100 * np.arange(1, len(WEIRD) + 1)
        column = np.repeat(np.array(WEIRD, dtype=object), counts)
        frame = pd.DataFrame({name: column for name in WEIRD})
        domain = rs.Domain({name: WEIRD for name in WEIRD})
        release = rs.plan(domain, marginals=1, rho=10).measure(frame, ledger="weird.ledger")
        for name in WEIRD:
            assert np.allclose(release.estimates(name), counts, atol=50)

    @pytest.mark.parametrize("name", ["it's", 'a"b', "a\nb", "年齢"])
    def test_messages_quote_them(self, name):
        with pytest.raises(rs.Error) as raised:
            rs.Spec(rs.Domain({name: rs.cuts(2, 1)}))
        assert str(raised.value) == f"domain[{name!r}].cuts must increase strictly"

    def test_half_a_surrogate_pair_is_refused(self):
        for domain in [rs.Domain({"\ud800": 2}), rs.Domain(a=["x", "\ud800"])]:
            with pytest.raises(rs.Error, match=r"'\\ud800' is not valid Unicode"):
                rs.Spec(domain)


class TestNumbers:
    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
    def test_floats_of_numpy(self, kind):
        assert rs.plan(rs.Domain(a=3), marginals=1, rho=kind(0.25)).privacy.budget_pcost == Fraction(1, 2)
        domain = rs.Domain(a=rs.cuts(kind(0.5), kind(1.5)), b=rs.cuts(np.array([0.5, 1.5], dtype=kind)))
        told = assert_both_ways(rs.Spec(domain, marginals=1, rho=kind(0.25)))
        assert [attribute["cuts"] for attribute in told] == [[0.5, 1.5], [0.5, 1.5]]

    @pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
    def test_whole_numbers_of_numpy(self, kind):
        domain = rs.Domain(
            a=rs.integers(kind(1), kind(4), hierarchy={"low": np.array([1, 2], dtype=kind), "high": (kind(3), 4)}),
            b=rs.size(kind(3)),
            c=[kind(7), kind(8)],
            d=rs.cuts(kind(3), kind(5)),
        )
        spec = rs.Spec(domain, marginals=kind(1), rho=kind(2), tables={("a", "b"): kind(2)}, identifier="who", max_rows=kind(3))
        told = assert_both_ways(spec)
        assert told[0]["integers"] == [1, 4]
        plan = rs.load_plan("plan.json")
        assert plan.labels("a") == ["1", "2", "3", "4", "low", "high"]
        assert plan.labels("c") == ["7", "8"]

    def test_values_of_other_types(self):
        class Sex(str, enum.Enum):
            FEMALE = "female"
            MALE = "male"

        domain = rs.Domain(
            sex=list(Sex),
            flag=[np.True_, False],
            price=[Decimal("1.50"), Fraction(1, 3)],
            day=[datetime.date(2013, 1, 1), datetime.date(2013, 1, 2)],
            name=pd.Series(["x", "y"]),
            text=np.array(["x", "y"]),
        )
        assert_both_ways(rs.Spec(domain, marginals=1, rho=1))
        plan = rs.load_plan("plan.json")
        assert [plan.labels(name) for name in plan.sizes] == [
            ["female", "male"], ["true", "false"], ["1.50", "1/3"], ["2013-01-01", "2013-01-02"],
            ["x", "y"], ["x", "y"],
        ]

    def test_groups_of_floats(self):
        groups = {"low": np.array([1.0, 2.0]), "high": [3.0, np.float32(4)]}
        assert_both_ways(rs.Spec(rs.Domain(a=rs.integers(1, 4, hierarchy=groups)), marginals=1, rho=1))
        assert rs.load_plan("plan.json").labels("a") == ["1", "2", "3", "4", "low", "high"]

    def test_weights(self):
        for weight in [2.5, "5/2", Fraction(5, 2), Decimal("2.5"), np.float32(2.5)]:
            spec = rs.Spec(rs.Domain(age=3, b=2), marginals=1, tables={"age": weight}, rho=1)
            rs.plan(spec).save("plan.json")
            assert '"weight":2.5' in Path("plan.json").read_text().replace(" ", "")

    def test_matrices_keep_every_digit(self):
        matrix = np.vstack([np.eye(3), np.full(3, 1 / 3), [0.1, 1e-7, 12345.678901234567]])
        for form in [matrix, matrix.tolist(), np.asfortranarray(matrix), pd.DataFrame(matrix), matrix[::-1][::-1]]:
            spec = rs.Spec(rs.Domain(a=rs.size(3, queries=form)), marginals=1, rho=1)
            assert_both_ways(spec)
            assert (rs.load_plan("plan.json").basis("a").queries == matrix).all()
            assert (rs.Spec.read("spec.toml").domain["a"].entries["custom"]["matrix"] == matrix).all()

    def test_a_matrix_is_copied(self):
        matrix = np.eye(3)
        attribute = rs.size(3, queries=matrix)
        matrix[0, 0] = np.nan
        rs.Spec(rs.Domain(a=attribute), marginals=1, rho=1)

    def test_strategies(self):
        prefix = np.tril(np.ones((4, 4)))
        domain = rs.Domain(a=rs.integers(0, 3, queries=prefix, strategy=np.eye(4)))
        told = assert_both_ways(rs.Spec(domain, marginals=1, rho=1))
        assert np.array(told[0]["strategy"]).ravel().tolist() == np.eye(4).ravel().tolist()


MATRICES = [
    ([[1, 0], [0, np.nan]], "matrix of attribute 'it' has the entry nan in row 2; entries must be finite"),
    ([[1, np.inf], [0, 1]], "matrix of attribute 'it' has the entry inf in row 1; entries must be finite"),
    ([[-np.inf, 0], [0, 1]], "matrix of attribute 'it' has the entry -inf in row 1"),
    ([[1, None], [0, 1]], "matrix of attribute 'it' has the entry nan in row 1"),
    ([[1, -1e200], [0, 1]], "has the entry -1e+200 in row 1; entries must be finite and at most 1e+154 in size"),
    ([[1, 1.7e308], [0, 1]], "has the entry 1.7e+308 in row 1"),
    (np.eye(3), "the matrix has 3 columns, and the attribute 2 cells; give one for each cell"),
    ([[1], [2]], "the matrix has 1 column, and the attribute 2 cells; give one for each cell"),
    (np.zeros((2, 2, 2)), "expected a matrix of numbers, found array"),
    (np.zeros((0, 2)), "the matrix has no rows; give one per query"),
    (np.zeros((2, 2)), "matrix of attribute 'it' is zero"),
]


class TestTables:
    @pytest.mark.parametrize(
        ("tables", "meant"),
        [
            (["total"], [()]),
            ("total", [()]),
            ([[]], [()]),
            (["total", "a", ["b", "a"]], [(), ("a",), ("a", "b")]),
            (["a, b", " c"], [(" c",), ("a", "b")]),
            ({"total": 2, ("a",): 1, "b,a": 3}, [(), ("a",), ("a", "b")]),
        ],
    )
    def test_a_text_is_as_in_spec_files(self, tables, meant):
        spec = rs.Spec(rs.Domain({"a": 3, "b": 2, " c": 2}), tables=tables, rho=1)
        assert sorted(spec.tables) == sorted(meant)
        assert_both_ways(spec)

    def test_the_name_of_an_attribute_is_one(self):
        domain = rs.Domain({"a": 3, "b": 2, "a,b": 2, "total": 4})
        spec = rs.Spec(domain, tables=["a,b", "total"], rho=1)
        assert spec.tables == [("a,b",), ("total",)]
        assert_both_ways(spec)

    def test_of_a_file(self):
        """A file with such texts can be changed."""
        Path("spec.toml").write_text(
            '[attributes.a]\nsize = 3\n[attributes.b]\nsize = 2\n[workload]\ntables = ["total", "a,b"]\n'
        )
        assert rs.Spec.read("spec.toml").replace(rho=2).tables == [(), ("a", "b")]

    def test_a_release_of_the_total(self):
        plan = rs.plan(rs.Domain(a=3), tables=["total"], rho=1)
        release = plan.measure(pd.DataFrame({"a": [0, 1, 1]}), ledger="a.ledger")
        assert list(release.tables()) == [()]
        assert release.table()["estimate"].iloc[0] == release.query().value


class TestMatricesThatAreRefused:
    @pytest.mark.parametrize(("matrix", "message"), MATRICES)
    def test_queries(self, matrix, message):
        with pytest.raises(rs.Error, match=r"^domain\['it'\]\.queries: .*" + re.escape(message)):
            rs.Spec(rs.Domain(it=rs.size(2, queries=matrix)))

    @pytest.mark.parametrize(("matrix", "message"), MATRICES)
    def test_strategy(self, matrix, message):
        with pytest.raises(rs.Error, match=r"^domain\['it'\]\.strategy: .*" + re.escape(message)):
            rs.Spec(rs.Domain(it=rs.values("x", "y", queries=np.eye(2), strategy=matrix)))

    @pytest.mark.parametrize("matrix", [[[1, 2], [3]], [["one", 2]], [[10**400, 1]], [[1j, 1]], "custom"])
    def test_no_matrix_at_all(self, matrix):
        with pytest.raises(rs.Error, match="queries"):
            rs.Spec(rs.Domain(a=rs.integers(0, 1, queries=matrix)))
        with pytest.raises(rs.Error, match="^strategy: not a matrix of numbers"):
            rs.integers(0, 1, queries=np.eye(2), strategy=matrix)


def spec_of(**arguments):
    return rs.Spec(rs.Domain(a=3, b=2), **arguments)


def holds_itself():
    group = {}
    group["y"] = group
    return {"z": group}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rs.Spec(rs.Domain()), "the domain has no attributes"),
        (lambda: rs.Spec({"a": 3}), "domain: expected a residua.Domain, found dict"),
        (lambda: rs.Spec(rs.Domain({"": 3})), "an attribute has an empty name"),
        (lambda: rs.Spec(rs.Domain(a=1)), "attribute 'a' has size 1; it needs at least 2 cells"),
        (lambda: rs.Spec(rs.Domain(a=2**60)), "attribute 'a' has 1152921504606846976 cells; at most"),
        (lambda: rs.Spec(rs.Domain(a=2**70)), "domain['a'].size: expected a whole number of at most 64 bits"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0.0, 3))), "domain['a'].integers: expected a whole number, found 0.0"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(True, 3))), "domain['a'].integers: expected a whole number, found True"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers("0", 3))), "domain['a'].integers: expected a whole number, found '0'"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts())), "domain['a'].cuts must hold at least one number"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts(1, np.nan))), "domain['a'].cuts must hold finite numbers"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts(1, np.inf))), "domain['a'].cuts must hold finite numbers"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts(1, 2**53 + 1))), "domain['a'].cuts: expected a float, or a whole number of at most 53 bits"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts(1, 10**400))), "domain['a'].cuts: expected a whole number of at most 64 bits"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts(1, "2"))), "domain['a'].cuts: expected a number, found '2'"),
        (lambda: rs.Spec(rs.Domain(a=["x", 1.5])), "domain['a'].values: expected texts, whole numbers, True or False, found 1.5"),
        (lambda: rs.Spec(rs.Domain(a=["x", b"y"])), "domain['a'].values: expected texts, whole numbers, True or False, found b'y'"),
        (lambda: rs.Spec(rs.Domain(a=["1", 1])), "domain['a'].values lists '1' twice"),
        (lambda: rs.Spec(rs.Domain(a=["x", np.datetime64("2013-01-01", "ns")])), "domain['a'].values: expected texts"),
        (lambda: rs.Spec(rs.Domain(a=rs.values("x", "null", null=True))), "domain['a'].null names missing values null"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 3, outside="keep"))), "domain['a'].outside: 'keep' is not known; choose error, clamp, drop, null or other"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 3, outside="null"))), "domain['a'].outside"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 3, outside=5))), "domain['a'].outside: expected a text, found 5"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 10**9, queries="prefix"))), "domain['a'].queries: attribute 'a' has"),
        (lambda: rs.integers(0, 3, queries="prefix", hierarchy={"x": [0]}), "both queries and hierarchy are given; keep one"),
        (lambda: rs.integers(0, 3, queries=np.eye(4), hierarchy={"x": [0]}), "both queries and hierarchy are given; keep one"),
        (lambda: rs.integers(0, 3, queries="prefix", strategy=np.eye(4)), "strategy is given without a matrix"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 3, queries="hierarchy"))), "domain['a']: hierarchy={group: [values], ...} goes with queries"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0, 7]}))), "domain['a'].hierarchy['x'] lists '7', which is not a value of the attribute"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0], "y": [0]}))), "domain['a'].hierarchy['y'] lists '0' twice, in 'x' and 'y'"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0]}))), "domain['a'].hierarchy lacks the value '1'"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0], "0": [1]}))), "domain['a'].hierarchy has two groups or values named '0'; rename one"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": {"y": {"x": [0, 1]}}}))), "domain['a'].hierarchy has two groups or values named 'x'; rename one"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0, 0, 1]}))), "domain['a'].hierarchy['x'] lists '0' twice; keep one"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": {"y": [0, "z"], "z": [1]}}))), "domain['a'].hierarchy['x']['y'] lists 'z', which is not a value of the attribute; list values only, and write a group inside"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={}))), "domain['a'].hierarchy lacks the value '0'; put it in a group"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [[0], 1]}))), "domain['a'].hierarchy['x']: expected"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": 5}))), "domain['a'].hierarchy['x']: expected a list"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0, 1], "y": {}}))), "domain['a'].hierarchy['y'] is empty; list values, or leave the group out"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy=holds_itself()))), "domain['a'].hierarchy['z']" + "['y']" * 64 + " is more than 64 levels deep; use fewer levels, and let no group hold itself"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": [0, 1], "y": []}))), "domain['a'].hierarchy['y'] is empty; list values, or leave the group out"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy={"x": {0, 1}}))), "domain['a'].hierarchy['x']: expected a list"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 1, hierarchy=[[0, 1]]))), "domain['a'].hierarchy: expected a dictionary"),
        (lambda: rs.Spec(rs.Domain(a=rs.Attribute({"size": 3, "sise": 4}))), "domain['a']: 'sise' is not known; known are integers"),
        (lambda: rs.Spec(rs.Domain(a=rs.Attribute({"size": 3, "cuts": [4]}))), "domain['a']: it needs exactly one of integers"),
        (lambda: rs.Spec(rs.Domain(a=rs.Attribute({"size": 3, "queries": "custom", "custom": "file.csv"}))), "domain['a'].queries: expected a dictionary"),
        (lambda: rs.Spec(rs.Domain(a=rs.dates("2013-02-30", "2013-12-31"))), "domain['a'].dates: '2013-02-30' is not a day such as 2013-01-31"),
        (lambda: rs.Spec(rs.Domain(a=rs.dates("2013-01-02", "2013-01-01"))), "domain['a'].dates [2013-01-02, 2013-01-01] is not an increasing range"),
        (lambda: rs.Spec(rs.Domain(a=rs.dates("2013-01-01", "2013-01-09", every="hour"))), "domain['a'].every: 'hour' is not known; choose day, week, month, quarter or year"),
        (lambda: rs.Spec(rs.Domain(a=rs.part("year"))), "domain['a'].part: 'year' is not known; choose weekday, hour or month"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 3, outside="other"))), "domain['a'].outside \"other\" only makes sense with values"),
        (lambda: spec_of(marginals="2ways"), "marginals: '2ways' is not understood"),
        (lambda: spec_of(marginals=3), "marginals: there are no 3-way marginals of 2 attributes"),
        (lambda: spec_of(marginals=[1]), "marginals: expected a number"),
        (lambda: spec_of(tables=[["c"]]), "tables: "),
        (lambda: spec_of(tables=["c"]), "tables: there is no attribute 'c'"),
        (lambda: spec_of(tables=[["total"]]), "tables: there is no attribute 'total'"),
        (lambda: spec_of(tables=["a,a"]), "tables: attribute 'a' is twice in one marginal"),
        (lambda: spec_of(tables=[["a", "a"]]), "tables: attribute 'a' is twice in one marginal"),
        (lambda: spec_of(tables=[[1]]), "tables: expected a text, found 1"),
        (lambda: spec_of(tables=[]), "tables: the workload is empty"),
        (lambda: spec_of(tables={("a",): -1}), "tables: the weight -1 of marginal a must be positive"),
        (lambda: spec_of(tables={("a",): np.nan}), "tables: weight"),
        (lambda: spec_of(objective="best"), "objective 'best' is not known"),
        (lambda: spec_of(objective=2), "objective: expected a text, found 2"),
        (lambda: spec_of(weights="some"), "weights 'some' are not known"),
        (lambda: spec_of(rho=True), 'rho: expected a number, or a text such as "1/3", found True'),
        (lambda: spec_of(rho=[1]), 'rho: expected a number, or a text such as "1/3", found [1]'),
        (lambda: spec_of(rho=np.float32("nan")), "rho"),
        (lambda: spec_of(rho=1, delta=2), "delta"),
        (lambda: spec_of(neighbours="none"), "neighbours: 'none' is not known; choose add-remove or replace-one"),
        (lambda: spec_of(identifier="who"), "identifier and max_rows go together"),
        (lambda: spec_of(identifier="", max_rows=1), "identifier is empty"),
        (lambda: spec_of(identifier="who", max_rows=0), "max_rows is 0"),
        (lambda: spec_of(identifier="who", max_rows=1.5), "max_rows: expected a whole number, found 1.5"),
        (lambda: spec_of(source="a.csv", query="SELECT 1", database="a.duckdb"), "both source and database are given"),
        (lambda: spec_of(database="a.duckdb"), "database is given without query"),
        (lambda: spec_of(query="SELECT 1"), "query is given without source or database"),
        (lambda: spec_of(ledger="a.ledger"), "ledger is given without data"),
        (lambda: spec_of(marginals=1, rho=1).save("nowhere/spec.toml"), "nowhere/spec.toml: cannot be written"),
    ],
)
def test_messages_name_the_argument(make, message):
    with pytest.raises(rs.Error) as raised:
        make()
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


class TestReadFromAFile:
    def test_comments_stay_where_nothing_is_changed(self):
        text = '# ours\n[attributes.a]\nsize = 3  # cells\n[workload]\nmarginals = 1\n'
        Path("spec.toml").write_text(text)
        Path("with.toml").write_text(text + '[data]\nsource = "a.csv"\n')
        Path("other").mkdir()
        for name in ("again.toml", "other/again.toml"):
            rs.Spec.read("spec.toml").save(name)
            assert Path(name).read_text() == text
        rs.Spec.read("with.toml").save("again.toml")
        assert Path("again.toml").read_text() == Path("with.toml").read_text()
        rs.Spec.read("with.toml").save("other/again.toml")
        assert 'source = "../a.csv"' in Path("other/again.toml").read_text()
        rs.Spec.read("spec.toml").replace(rho=2).save("again.toml")
        assert "rho = 2" in Path("again.toml").read_text()

    def test_a_draft_stays_one(self):
        """Whatever is changed, a domain that was read from the data is not measured."""
        Path("draft.toml").write_text(
            '[attributes.a]\nvalues = ["x", "y"]\ncheck = "read from the data"\n[workload]\nmarginals = 1\n'
        )
        draft = rs.Spec.read("draft.toml")
        frame = pd.DataFrame({"a": ["x"]})
        for spec in [draft.replace(rho=1), rs.Spec(draft.domain, marginals=1, rho=1)]:
            with pytest.raises(rs.Refused, match="read from the data"):
                rs.plan(spec).measure(frame, ledger="draft.ledger")

    def test_what_is_not_changed_stays(self):
        Path("spec.toml").write_text(
            '\ufeff[attributes.a]\nsize = 3\n[attributes.b]\nsize = 2\n[workload]\nmarginals = 1\n'
            'tables = [["a", "b"], { attributes = ["a"], weight = "5/2" }]\nweights = "equal"\n'
            '[privacy]\nepsilon = 1\ndelta = 1e-6\nneighbours = "replace-one"\nunit = "row"\n',
            encoding="utf-8",
        )
        spec = rs.Spec.read("spec.toml")
        changed = spec.replace(epsilon=0.5)
        assert changed.tables == spec.tables
        privacy = rs.plan(changed).privacy
        assert privacy.epsilon <= 0.5
        assert privacy.delta == 1e-6
        assert privacy.neighbours == "replace one row"
        assert rs.plan(spec.replace(delta=1e-3)).privacy.pcost > rs.plan(spec).privacy.pcost
        bounded = spec.replace(max_std_dev=10)
        assert rs.plan(bounded).max_std_dev <= 10
        assert rs.plan(bounded.replace(epsilon=1)).loss == rs.plan(spec).loss

    def test_messages_name_the_line(self):
        Path("spec.toml").write_text("[attributes.a]\ncuts = [2, 1]\n")
        with pytest.raises(rs.Error, match=r"^spec\.toml:2: attributes\.a\.cuts must increase strictly"):
            rs.Spec.read("spec.toml")


def test_nothing_is_written_to_make_a_spec(monkeypatch):
    """Objects reach the library as they are, without a file on the way."""
    def refuse(*arguments, **named):
        raise AssertionError("a file was written")

    monkeypatch.setattr(np, "savetxt", refuse)
    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    rs.plan(rs.Domain(a=rs.size(2, queries=np.eye(2))), marginals=1, rho=1)


def test_dates_and_columns_are_those_of_a_spec_file():
    domain = rs.Domain(
        day=rs.dates(datetime.date(2013, 1, 1), "2013-12-31", every="week"),
        weekday=rs.part("weekday", column="day"),
        carrier=rs.values("AA", "DL", outside="other", null=True),
    )
    assert domain.sizes == {"day": 53, "weekday": 7, "carrier": 4}
    spec = rs.Spec(domain, marginals=1, rho=1, source="flights.csv", null_values=["NA"])
    assert '[attributes.weekday]\npart = "weekday"\ncolumn = "day"\n' in spec.text
    assert 'null_values = ["NA"]' in spec.text
    spec.save("flights.toml")
    assert rs.Spec.read("flights.toml").domain.sizes == domain.sizes


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (rs.dates("2013-01-01", "2013-02-30"), "dates: '2013-02-30' is not a day such as 2013-01-31"),
        (rs.dates("2013-01-01", "2013-02-28", every="moon"), "every: 'moon' is not known"),
        (rs.integers("a", 3), "integers: expected a whole number, found 'a'"),
        (rs.size(float("inf")), "size: expected a whole number, found inf"),
    ],
)
def test_the_size_of_what_is_no_attribute(attribute, message):
    with pytest.raises(rs.InputError, match=f"domain\\['x'\\].{message}"):
        repr(rs.Domain(x=attribute))


def test_a_spec_replaces_only_a_spec():
    spec = rs.Spec(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
    Path("data.csv").write_bytes(b"sex\nmale\n")
    Path("data.parquet").write_bytes(b"PAR1\xff\xfe")
    for name in ("data.csv", "data.parquet"):
        before = Path(name).read_bytes()
        with pytest.raises(rs.Refused, match=f"{name}: exists and is not a spec"):
            spec.save(name)
        assert Path(name).read_bytes() == before
    Path("empty.toml").touch()
    for name in ("empty.toml", "empty.toml", "new.toml"):
        spec.save(name)
        assert rs.Spec.read(name).text == spec.text
