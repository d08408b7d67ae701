#!/usr/bin/env python3
"""Releases the country of make_country.py: its geography by age, sex and race, from people that are never stored.

    python3 release_country.py FOLDER [--people 330000000]

writes FOLDER/country.toml, FOLDER/country.ledger and the release FOLDER/release, with tables in Parquet. Then it
compares them with the truth, level by level, and with the noise of budgets that are divided among the levels by hand.
Every level counts alike, unless one asks for --level-weights answers: then tracts, which are most answers, decide."""
# pyarrow has no types.
# pyright: standard
import math
import resource
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from make_country import AGES, RACES, SEXES, Country, sized_arguments

import residua as rs

LEVELS = ("nation", "state", "county", "tract")
# Of the privacy budget for persons in the redistricting data of the 2020 Census of the United States. Block groups and
# blocks, below the tracts, have the rest of 4099.
CENSUS_SHARES: dict[str, int] = {"nation": 104, "state": 1440, "county": 447, "tract": 687}
TABLES: tuple[tuple[str, ...], ...] = ((), ("age",), ("sex",), ("race",), ("age", "sex", "race"))
AXES = {"age": 1, "sex": 2, "race": 3}


def shown(names: tuple[str, ...]) -> str:
    return "x " + " x ".join(names) if names else "total"


def truth_by_level(country: Country) -> dict[str, np.ndarray]:
    """The counts of each level's places by age, sex and race."""
    tracts = np.concatenate([counts.astype(np.int32) for _, counts in country.counts()])
    counties = np.zeros((len(country.counties), *tracts.shape[1:]), dtype=np.int64)
    np.add.at(counties, country.county_of, tracts)
    states = np.zeros((len(country.states), *tracts.shape[1:]), dtype=np.int64)
    np.add.at(states, country.state_of, tracts)
    return {"nation": states.sum(axis=0)[None], "state": states, "county": counties, "tract": tracts}


def by_hand(rho: Fraction, shares: dict[str, int]) -> dict[str, rs.Plan]:
    """One plan per level, for the people of one place: the best noise for its tables with the level's budget. Places of
    one level have no people in common, so each level is paid for once."""
    inside = rs.Domain(age=AGES, sex=SEXES, race=RACES)
    whole = sum(shares.values())
    return {level: rs.plan(inside, marginals="<=3", rho=rho * share / whole) for level, share in shares.items()}


def deviations(plan: rs.Plan, names: tuple[str, ...], country: Country) -> dict[str, np.ndarray]:
    """The standard deviations of a table by level; the answers of a hierarchy are its values, then its groups, the
    lowest first."""
    variances = plan.variances("geography", *names)
    ends = np.cumsum([len(country.tracts), len(country.counties), len(country.states)])
    tract, county, state = np.split(np.sqrt(variances), ends[:-1])
    return {"nation": np.sqrt(plan.variances(*names))[None], "state": state, "county": county, "tract": tract}


def estimates(folder: Path, names: tuple[str, ...]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Of each level: the estimates and half the widths of the intervals, as the published tables have them."""
    for geography in ((), ("geography",)):
        name = "_x_".join(geography + names) or "total"
        columns = ["estimate", "ci_lower", "ci_upper", *(["geography_level"] if geography else [])]
        table = pq.read_table(folder / "tables" / f"{name}.parquet", columns=columns)
        for level in (0, 1, 2) if geography else (3,):
            rows = table.filter(table["geography_level"].to_numpy() == level) if geography else table
            estimate, lower, upper = (rows[column].to_numpy() for column in columns[:3])
            yield LEVELS[3 - level], estimate, (upper - lower) / 2


def rms(values: np.ndarray) -> float:
    return math.sqrt(np.mean(np.square(values, dtype=float)))


def report(plan: rs.Plan, folder: Path, country: Country, rho: Fraction) -> None:
    equal, census = by_hand(rho, dict.fromkeys(LEVELS, 1)), by_hand(rho, CENSUS_SHARES)
    truth = truth_by_level(country)
    print("| table | level | places | std_dev | largest | equal budgets | Census shares | error seen | in the interval |")
    print("|---|---|---|---|---|---|---|---|---|")
    for names in TABLES:
        planned = deviations(plan, names, country)
        seen = {level: (values, reach) for level, values, reach in estimates(folder, names)}
        for level in LEVELS:
            gone = tuple(axis for name, axis in AXES.items() if name not in names)
            true = truth[level].sum(axis=gone).ravel()
            values, reach = seen[level]
            error = values - true
            others = [rms(np.sqrt(by_level[level].variances(*names))) for by_level in (equal, census)]
            cells = [rms(planned[level]), planned[level].max(), *others, rms(error)]
            covered = 100 * np.mean(np.abs(error) <= reach)
            texts = [shown(names), level, f"{len(truth[level])}", *(f"{cell:.2f}" for cell in cells), f"{covered:.1f} %"]
            print(f"| {' | '.join(texts)} |")


def main() -> None:
    arguments = sized_arguments((__doc__ or "").splitlines()[0])
    arguments.add_argument("--no-check", action="store_true", help="read the people once, not twice")
    asked = arguments.parse_args()
    start = time.perf_counter(), time.process_time()

    def told(what: str) -> None:
        nonlocal start
        clock, processors = time.perf_counter() - start[0], time.process_time() - start[1]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{what}: {clock:.1f} s, {processors:.1f} s of all processors, {peak:.0f} MB at most so far", flush=True)
        start = time.perf_counter(), time.process_time()

    country = Country(asked.states, asked.counties, asked.tracts, asked.people)
    asked.folder.mkdir(parents=True, exist_ok=True)
    spec = asked.folder / "country.toml"
    spec.write_text(country.spec(asked.rho, asked.tables, "", asked.level_weights), encoding="utf-8")
    told("the country and its spec")
    plan = rs.plan(spec)
    told("the plan")
    if not asked.no_check:
        check = plan.check(country.people(), progress=False)
        print(f"a release will take {check.memory_bytes / 1e6:.0f} MB and about {check.seconds:.0f} s")
        told("the check")
    output = asked.folder / "release"
    plan.release(
        country.people(),
        output,
        ledger=asked.folder / "country.ledger",
        format="parquet",
        title="A made-up country",
        progress=False,
    )
    told("the release")
    sizes = {path.name: path.stat().st_size for path in output.iterdir() if path.is_file()}
    sizes["tables"] = sum(path.stat().st_size for path in (output / "tables").iterdir())
    print("sizes in MB: " + ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sizes.items()) + "\n")
    report(plan, output, country, Fraction(asked.rho))
    told("\ncomparing with the truth")


if __name__ == "__main__":
    main()
