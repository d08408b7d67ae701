"""Plans: the command line's own files and numbers, and a look inside."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import residua as rs


def test_same_plan_as_the_command_line(domain, cli):
    spec = rs.Spec(domain, marginals="<=2", objective="max-variance", rho=0.5)
    spec.save("people.toml")
    cli("plan", "people.toml", "-o", "cli.json")
    rs.plan(spec).save("python.json")
    rs.plan("people.toml").save("read.json")
    texts = [Path(name).read_text() for name in ("cli.json", "python.json", "read.json")]
    assert texts[0] == texts[1] == texts[2]
    cli("verify", "python.json")
    told = json.loads(cli("plan", "people.toml", "--json", "--variances"))
    plan = rs.load_plan("cli.json")
    assert plan.rmse == pytest.approx(told["rmse"], rel=1e-12)
    assert plan.loss == told["loss"]
    assert plan.privacy.epsilon == told["privacy"]["epsilon"]
    errors = plan.errors()
    assert (errors["std_dev"] ** 2).tolist() == pytest.approx(
        [table["mean_variance"] for table in told["tables"]], rel=1e-12
    )
    assert [list(table) for table in plan.tables] == [t["attributes"] for t in told["tables"]]
    assert errors["cells"].tolist() == [table["cells"] for table in told["tables"]]


def areas(**weights):
    tracts = [f"t{k}" for k in range(40)]
    hierarchy = {"west": tracts[:20], "east": tracts[20:]}
    return rs.Domain(area=rs.values(*tracts, hierarchy=hierarchy, **weights), sex=["female", "male"])


def test_levels_have_weights(cli):
    alike = rs.plan(areas(), marginals="<=2", rho=1)
    assert rs.plan(areas(level_weights="answers"), marginals="<=2", rho=1).loss == alike.loss
    rs.Spec(areas(level_weights="equal"), marginals="<=2", rho=1).save("areas.toml")
    told = json.loads(cli("plan", "areas.toml", "--json"))
    plan = rs.plan("areas.toml")
    assert plan.loss == told["loss"]
    levels = plan.level_errors()
    assert levels["level"].tolist() == [1, 0]
    assert levels["example"].tolist() == ["west", "t0"]
    assert (levels["std_dev"] ** 2).tolist() == pytest.approx([of["mean_variance"] for of in told["levels"]])
    variances = plan.variances("area")
    table = plan.errors().set_index("table")
    assert table.loc["area", "std_dev"] ** 2 == pytest.approx(variances.mean())
    assert variances[40:].mean() < alike.variances("area")[40:].mean() / 1.5
    one = rs.plan(areas(level_weights=np.array([1, 1])), tables=["area"], rho=1)
    by_level = [one.variances("area")[:40].mean(), one.variances("area")[40:].mean()]
    assert one.loss == pytest.approx(sum(by_level) / 2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("even", r"domain\['area'\].level_weights: 'even' is not known; choose equal or answers"),
        ([1], r"domain\['area'\].level_weights: attribute 'area' has 1 level weight for 2 levels"),
        ([], r"domain\['area'\].level_weights is empty"),
        ([1, 0], "has the level weight 0; it must be between 0.001 and 1000"),
        ([1, float("nan")], "level_weights"),
        ([1, None], "level_weights"),
        (7, "level_weights"),
    ],
)
def test_weights_of_levels_that_cannot_be_planned_for(weights, message):
    with pytest.raises(rs.InputError, match=message):
        rs.plan(areas(level_weights=weights), marginals=1, rho=1)


def test_weights_of_levels_need_a_hierarchy():
    with pytest.raises(rs.InputError, match="level_weights are given without a hierarchy"):
        rs.values("a", "b", level_weights="equal")


def test_flags_take_precedence(domain):
    rs.Spec(domain, marginals="<=2", epsilon=1, delta=1e-9).save("people.toml")
    assert rs.plan("people.toml", rho=2).privacy.budget_pcost == 4
    assert rs.plan("people.toml", epsilon=0.5).privacy.epsilon <= 0.5
    assert len(rs.plan("people.toml", marginals=1).tables) == 4
    with pytest.raises(TypeError, match="no argument 'rhoo'; did you mean 'rho'"):
        rs.plan("people.toml", rhoo=1)


def test_numbers_are_exact():
    sizes = rs.Domain(a=3)
    assert rs.plan(sizes, marginals=1, rho="1/3").privacy.budget_pcost == Fraction(2, 3)
    assert rs.plan(sizes, marginals=1, rho=Fraction(1, 7)).privacy.budget_pcost == Fraction(2, 7)
    assert rs.plan(sizes, marginals=1, rho=0.1).privacy.budget_pcost == Fraction(1, 5)
    assert rs.plan(sizes, marginals=1, rho=np.float64(0.1)).privacy.budget_pcost == Fraction(1, 5)


def test_spec_both_ways(cli):
    """Every kind of attribute survives the way through a file."""
    matrix = np.vstack([np.eye(4), np.ones((1, 4)) / 3])
    domain = rs.Domain(
        {"net income": rs.cuts(10.5, 1e6, queries="range")},
        age=rs.integers(-5, 5, outside="clamp", null=True),
        sex=["female", 'the "other"', 7, True],
        region=rs.values("N1", "N2", "S1", hierarchy={"north": {"all north": ["N1", "N2"]}, "south": ["S1"]}),
        mine=rs.integers(1, 4, queries=matrix),
    )
    spec = rs.Spec(domain, marginals=1, tables={("age", "sex"): 2.5}, mu=1.5, neighbours="replace-one", source="data/people.csv", ledger="a.ledger")
    Path("specs").mkdir()
    spec.save("specs/people.toml")
    again = rs.Spec.read("specs/people.toml")
    assert again.tables == spec.tables
    rs.plan(spec).save("a.json")
    rs.plan(again).save("b.json")
    a, b = (json.loads(Path(name).read_text()) for name in ("a.json", "b.json"))
    assert a == b
    assert (a["data"]["source"], a["data"]["ledger"]) == ("data/people.csv", "a.ledger")
    cli("plan", "specs/people.toml", "-o", "c.json")
    assert json.loads(Path("c.json").read_text()) == a
    again.save("specs/copy.toml")
    assert rs.Spec.read("specs/copy.toml").tables == spec.tables
    assert rs.plan("specs/copy.toml", rho=1).privacy.budget_pcost == 2


@pytest.mark.parametrize("queries", ["identity", "prefix", "range"])
def test_looking_inside(queries):
    """Variances and covariances from the matrices alone, by plain linear algebra."""
    plan = rs.plan(rs.Domain(a=rs.size(4, queries=queries), b=3), marginals="<=2", rho=0.3)
    bases = [plan.basis("a"), plan.basis("b")]
    # The measured integers of each base mechanism, and their noise.
    rows, precisions = [], []
    for names in plan.base_mechanisms:
        factors = [
            basis.matrix if name in names else np.ones((1, basis.matrix.shape[1]))
            for name, basis in zip("ab", bases, strict=True)
        ]
        inside = [basis for name, basis in zip("ab", bases, strict=True) if name in names]
        variance = float(plan.noise_variance(*names)) * np.prod([float(b.variance_factor) for b in inside])
        block = np.kron(*factors)
        rows.append(block)
        precisions.append(np.full(len(block), 1 / variance))
    design = np.vstack(rows)
    information = design.T @ (np.concatenate(precisions)[:, None] * design)
    questions = np.kron(bases[0].queries, bases[1].queries)
    expected = questions @ np.linalg.pinv(information) @ questions.T
    assert np.allclose(plan.covariances("a", "b"), expected, rtol=1e-7, atol=1e-9)
    assert np.allclose(plan.variances("a", "b").ravel(), np.diag(expected), rtol=1e-7)
    # What one row can move costs what the plan says.
    cost = np.diag(information).max()
    assert cost == pytest.approx(float(plan.privacy.pcost), rel=1e-9)
    scales = dict(zip(plan.base_mechanisms, plan.noise_scales, strict=True))
    assert scales["a", "b"] ** 2 == pytest.approx(float(plan.noise_variance("a", "b")))


class TestAboveLowerBound:
    domain = rs.Domain(a=rs.integers(0, 19, queries="prefix"), b=4)

    def test_of_marginals_is_nothing(self):
        assert 0 <= rs.plan(rs.Domain(a=10, b=4), marginals="<=2", rho=0.5).above_lower_bound < 1e-6

    def test_of_prefix_sums_is_small(self):
        for objective in ["sum-variance", "max-variance", "p-norm=2"]:
            plan = rs.plan(self.domain, marginals="<=2", objective=objective, rho=0.5)
            assert 0 < plan.above_lower_bound < 0.03

    def test_where_none_is_proven(self):
        assert rs.plan(self.domain, marginals=2, rho=0.5, neighbours="replace-one").above_lower_bound is None
        mine = rs.plan(self.domain, marginals=2, rho=0.5, loss=lambda v: (v @ v, 2 * v))
        assert mine.above_lower_bound is None


class TestOwnLoss:
    domain = rs.Domain(a=10, b=4, c=3)

    def test_as_the_built_in_one(self):
        """The sum of mean variances, each table alike, is the default objective."""
        spec = rs.Spec(self.domain, marginals="<=2", rho=0.5)
        fair = rs.plan(spec, loss=lambda v: (v.sum(), np.ones_like(v)))
        assert fair.loss == pytest.approx(rs.plan(spec).loss, rel=1e-5)
        sizes = {"a": 10, "b": 4, "c": 3}
        cells = np.array([np.prod([sizes[name] for name in table]) for table in spec.tables])
        mine = rs.plan(spec, loss=lambda v: (cells @ v, cells))
        assert mine.rmse == pytest.approx(rs.plan(spec.replace(weights="cells")).rmse, rel=1e-5)
        assert mine.relative_gap < 1e-5

    def test_order_of_tables(self):
        """What is asked to be precise is."""
        spec = rs.Spec(self.domain, marginals="<=2", rho=0.5)
        favoured = spec.tables.index(("b", "c"))
        weights = np.ones(len(spec.tables))
        weights[favoured] = 1e4
        errors = rs.plan(spec, loss=lambda v: (weights @ v, weights)).errors()
        assert errors["std_dev"].idxmin() == favoured

    def test_its_exception_is_raised(self):
        def loss(variances):
            raise ZeroDivisionError("mine")

        with pytest.raises(ZeroDivisionError, match="mine"):
            rs.plan(self.domain, marginals=1, rho=1, loss=loss)

    @pytest.mark.parametrize(
        ("loss", "message"),
        [
            (lambda v: (np.sqrt(v).sum(), 0.5 / np.sqrt(v)), "not convex"),
            (lambda v: ((v**2).sum(), v), "not convex, or its gradient"),
            (lambda v: (-v.sum(), -np.ones_like(v)), "must be finite and not negative"),
            (lambda v: (np.nan, np.ones_like(v)), "the loss function returned nan"),
            (lambda v: (v.sum(), np.zeros_like(v)), "gradient is zero"),
            (lambda v: (v.sum(), [1.0]), "its gradient has 1 entries; there are 3 tables"),
        ],
    )
    def test_bad_losses(self, loss, message):
        with pytest.raises(rs.Error, match=message):
            rs.plan(self.domain, marginals=1, rho=1, loss=loss)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rs.Spec(rs.Domain(a=rs.integers(5, 1))), r"^domain\['a'\]\.integers \[5, 1\] is not an increasing range"),
        (lambda: rs.Spec(rs.Domain(a=["x", "x"])), r"^domain\['a'\]\.values lists 'x' twice"),
        (lambda: rs.Spec(rs.Domain(a=rs.cuts(2, 1))), r"^domain\['a'\]\.cuts must increase strictly"),
        (lambda: rs.Spec(rs.Domain(a=["x", {1}])), r"^domain\['a'\]\.values: expected texts, whole numbers, True or False, found .1."),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 9, queries="prefixes"))), r"^domain\['a'\]\.queries: queries 'prefixes' are not known"),
        (lambda: rs.Domain(a="female"), "column 'a' is described by 'female'; give a list"),
        (lambda: rs.Domain(a=1.5), "column 'a' is described by 1.5"),
        (lambda: rs.Domain(a=["x", None]), "None is among the values; missing values have a cell with null=True"),
        (lambda: rs.Spec(rs.Domain(a=rs.integers(0, 2, queries=np.eye(2)))), r"^domain\['a'\]\.queries: the matrix has 2 columns"),
        (lambda: rs.plan(5), "what: expected a residua.Domain, a residua.Spec or the path of a spec file, found int"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1), "no budget is set; give epsilon and delta, rho"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=2, rho=1), "marginals"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=-1), "rho"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=float("nan")), "nan"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, epsilon=1), "epsilon is given without delta"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=1, mu=1), "both rho and mu are given"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=1, max_std_dev=1), "both rho and max_std_dev are given"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=1, objective="best"), "best"),
        (lambda: rs.plan(rs.Domain(a=3), tables=[["b"]], rho=1), "'b'"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=1, tolerance=2), "tolerance is 2"),
        (lambda: rs.plan(rs.Domain(a=3), marginals=1, rho=1).basis("b"), "'b'"),
        (lambda: rs.plan("nowhere.toml"), "nowhere.toml: no such file"),
        (lambda: rs.load_plan("nowhere.json"), "nowhere.json"),
    ],
)
def test_messages(make, message):
    with pytest.raises(rs.Error, match=message):
        make()


def test_a_changed_plan_is_refused():
    rs.plan(rs.Domain(a=3), marginals=1, rho=1).save("plan.json")
    text = Path("plan.json").read_text()
    assert '"budget":"2"' in text
    Path("plan.json").write_text(text.replace('"budget":"2"', '"budget":"3"'))
    with pytest.raises(rs.Refused):
        rs.load_plan("plan.json")
