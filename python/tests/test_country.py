"""The example of a country, made small: the whole way, and beside the truth."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

import residua as rs

SIZES = {"states": 3, "counties": 20, "tracts": 200, "people": 50_000}
FLAGS = [part for name, size in SIZES.items() for part in (f"--{name}", str(size))]
NAMES = ("age", "sex", "race")


@pytest.fixture
def run(monkeypatch):
    """Runs a script of the example, and returns its module."""
    monkeypatch.syspath_prepend(ROOT / "examples")

    def main(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        module = __import__(name)
        module.main()
        return module

    return main


@pytest.fixture
def maker(run):
    return run("make_country", "stored", *FLAGS, "--rho", "1", "--store")


@pytest.fixture
def country(maker):
    return maker.Country(**SIZES)


@pytest.fixture
def truth(country):
    """Tracts, then counties, then states, by age, sex and race."""
    tracts = np.concatenate([counts for _, counts in country.counts()])
    counties = [tracts[country.county_of == k].sum(axis=0) for k in range(SIZES["counties"])]
    states = [tracts[country.state_of == k].sum(axis=0) for k in range(SIZES["states"])]
    return np.concatenate([tracts, counties, states])


def check_against(truth, read):
    """`read` gives the estimates and standard deviations of a table. 102,144 answers within 6.5
    standard deviations, but with a probability of 1e-5; and as far from the truth, in the mean, as
    they say: 50,400 tracts' cells make the root mean square 1 within 0.05."""
    for names in ((), ("age",), ("sex", "race"), NAMES):
        gone = tuple(k + 1 for k, name in enumerate(NAMES) if name not in names)
        estimate, std_dev = read(("geography", *names))
        error = (estimate - truth.sum(axis=gone).ravel()) / std_dev
        assert np.abs(error).max() < 6.5
        if names == NAMES:
            assert np.sqrt(np.mean(error[: 200 * 252] ** 2)) == pytest.approx(1, abs=0.05)


def test_people_are_those_of_the_counts(country, maker):
    people = pd.concat([batch.to_pandas().astype(str) for batch in country.people()])
    assert len(people) == SIZES["people"]
    assert people.equals(pd.read_parquet("stored/people.parquet").set_axis(people.index))
    counted = people.groupby(["geography", *NAMES]).size()
    assert counted.sum() == SIZES["people"]
    labels = (country.tracts, maker.AGES, maker.SEXES, maker.RACES)
    counts = np.concatenate([counts for _, counts in country.counts()])
    for cell in zip(*np.nonzero(counts), strict=True):
        label = tuple(names[k] for names, k in zip(labels, cell, strict=True))
        assert counted[label] == counts[cell]
    assert len(counted) == np.count_nonzero(counts)


def test_sizes_are_skewed(country):
    tracts = np.bincount(country.county_of)
    assert len(tracts) == SIZES["counties"]
    assert len(np.unique(country.state_of)) == SIZES["states"]
    assert len(set(country.tracts)) == SIZES["tracts"]
    assert tracts.min() >= 1
    assert tracts.max() > 3 * np.median(tracts)


def test_too_few_places_are_one_line(run):
    with pytest.raises(SystemExit, match="5 counties are too few; ask for 10 or more"):
        run("make_country", "bad", "--states", "10", "--counties", "5")


def test_the_script(run, truth, capsys):
    run("release_country", "streamed", *FLAGS, "--rho", "1")
    told = capsys.readouterr().out
    assert "a release will take " in told
    release = rs.load("streamed/release")

    def read(names):
        table = release.table(*names)
        return table["estimate"].to_numpy(), table["std_dev"].to_numpy()

    check_against(truth, read)
    with pytest.raises(AssertionError):
        check_against(np.roll(truth, 1, axis=0), read)
    # What it prints is what the release says.
    rows = [line.strip("| ").split(" | ") for line in told.splitlines() if line.startswith("| ")]
    heads, rows = rows[0], rows[1:]
    printed = pd.DataFrame(rows, columns=heads).set_index(["table", "level"])
    assert len(printed) == 5 * 4
    states = np.sqrt(release.variances("geography", "sex"))[-3:]
    expected = np.sqrt(np.mean(states**2))
    assert float(printed.loc[("x sex", "state"), "std_dev"]) == pytest.approx(expected, abs=0.006)
    covered = printed["in the interval"].str.rstrip(" %").astype(float)
    assert covered[("x age x sex x race", "tract")] == pytest.approx(95, abs=1)
    # Equal budgets: of a nation, a quarter of the budget for the tables of age, sex and race.
    alone = rs.plan(rs.Domain(age=18, sex=2, race=7), marginals="<=3", rho=0.25)
    assert float(printed.loc[("total", "county"), "equal budgets"]) == pytest.approx(
        alone.variances() ** 0.5, abs=0.006
    )


def test_the_command_line(maker, truth, cli):
    plan = rs.plan("stored/country.toml")
    told = json.loads(cli("check", "stored/country.toml", "--json"))
    assert told["memory_bytes"] > 21 * 8 * 252  # known before anything is spent
    assert not Path("stored/people.parquet.ledger").exists()
    cli("release", "stored/country.toml", "-o", "release", "--format", "parquet", "--yes")

    def read(names):
        table = pd.read_parquet(Path("release/tables", "_x_".join(names) + ".parquet"))
        return table["estimate"].to_numpy(), table["std_dev"].to_numpy()

    check_against(truth, read)
    assert read(("geography",))[1] == pytest.approx(np.sqrt(plan.variances("geography")), rel=1e-9)
