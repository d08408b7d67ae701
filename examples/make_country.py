#!/usr/bin/env python3
"""Makes an invented country as large as a real one, with skewed sizes: tracts in counties in states.

    python3 make_country.py FOLDER [--people 330000000]

writes FOLDER/country.toml, the spec: the geography as one hierarchy, age groups, sex and race. The people are not
stored: `Country.people()` makes them tract by tract, in batches, the same people every time. With `--store` they are
written to FOLDER/people.parquet too, for the command line. Needs numpy and pyarrow."""
# pyarrow has no types.
# pyright: standard
import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

AGES = [f"{first}-{first + 4}" for first in range(0, 85, 5)] + ["85+"]
SEXES = ["female", "male"]
RACES = ["white", "black", "native", "asian", "pacific", "other", "two or more"]
# How common each is in the country, in percent; no tract is like the country.
AGE_SHARES = np.array([5.7, 6.1, 6.5, 6.6, 6.6, 6.8, 7.0, 6.6, 6.4, 6.1, 6.3, 6.3, 6.5, 5.6, 4.4, 3.1, 2.0, 1.4])
RACE_SHARES = np.array([61, 12, 1, 6, 0.4, 8.6, 11])
ROWS_AT_ONCE = 1_000_000


def divide(draw: np.random.Generator, number: int, weights: np.ndarray, what: str) -> np.ndarray:
    """So many things among places with these weights, at least one for each."""
    if number < len(weights):
        raise SystemExit(f"make_country: {number} {what} are too few; ask for {len(weights)} or more")
    return 1 + draw.multinomial(number - len(weights), weights / weights.sum())


class Country:
    """`county_of` and `state_of` are the numbers of each tract's county and state."""

    def __init__(self, states: int, counties: int, tracts: int, people: int) -> None:
        draw = np.random.default_rng(2020)
        counties_of = divide(draw, counties, draw.lognormal(0, 0.7, states), "counties")
        tracts_of = divide(draw, tracts, draw.lognormal(0, 1.5, counties), "tracts")
        sizes = draw.lognormal(0, 0.45, tracts)
        self.populations = draw.multinomial(people, sizes / sizes.sum())
        # Codes like a census has: two digits for the state, three more for the county, six more for the tract.
        self.states = [f"{1 + s:02}" for s in range(states)]
        self.counties = [f"{self.states[s]}{1 + k:03}" for s in range(states) for k in range(counties_of[s])]
        self.tracts = [f"{self.counties[c]}{1 + k:06}" for c in range(counties) for k in range(tracts_of[c])]
        self.county_of = np.repeat(np.arange(counties), tracts_of)
        self.state_of = np.repeat(np.arange(states), counties_of)[self.county_of]

    def counts(self) -> Iterator[tuple[int, np.ndarray]]:
        """The truth: a tract, and the people of each age, sex and race in it and in those after it."""
        draw = np.random.default_rng(330)
        at_once = int(min(10_000, max(1, ROWS_AT_ONCE / max(1, self.populations.mean()))))
        women = 0.485 + 0.12 * np.linspace(0, 1, len(AGES)) ** 3
        sexes = np.stack([women, 1 - women], axis=1)
        for first in range(0, len(self.tracts), at_once):
            populations = self.populations[first : first + at_once]
            number = len(populations)
            ages = AGE_SHARES * np.exp(draw.normal(0, 0.25, (number, 1)) * np.linspace(-1, 1, len(AGES)))
            races = draw.gamma(RACE_SHARES / 25, size=(number, len(RACES))) + 1e-9
            shares = ages[:, :, None, None] * sexes[:, :, None] * races[:, None, None, :]
            shares /= shares.sum(axis=(1, 2, 3), keepdims=True)
            yield first, draw.multinomial(populations, shares.reshape(number, -1)).reshape(shares.shape)

    def people(self) -> Iterator[pa.RecordBatch]:
        """One row per person, sorted by tract, about a million at a time."""
        for first, counts in self.counts():
            number = len(counts)
            tract = np.repeat(np.arange(number, dtype=np.int16), counts.sum(axis=(1, 2, 3)))
            columns = {"geography": pa.DictionaryArray.from_arrays(tract, self.tracts[first : first + number])}
            cells = np.indices(counts.shape[1:], dtype=np.int8)
            for name, labels, codes in zip(("age", "sex", "race"), (AGES, SEXES, RACES), cells, strict=True):
                repeated = np.repeat(np.tile(codes.ravel(), number), counts.ravel())
                columns[name] = pa.DictionaryArray.from_arrays(repeated, labels)
            yield pa.RecordBatch.from_pydict(columns)

    def spec(self, rho: str, tables: str, source: str, level_weights: str) -> str:
        """The spec's text. An empty source: the people come from a program."""
        hierarchy: dict[str, dict[str, list[str]]] = {state: {} for state in self.states}
        for tract, county, state in zip(self.tracts, self.county_of, self.state_of, strict=True):
            hierarchy[self.states[state]].setdefault(self.counties[county], []).append(tract)
        lines = ["[release]", 'title = "A made-up country"']
        lines += ["[data]", f'source = "{source}"', f"rows = {self.populations.sum()}"] if source else []
        lines += ["[privacy]", f'rho = "{rho}"', "[workload]", f'marginals = "{tables}"']
        lines += ["[attributes.geography]", f"values = {listed(self.tracts)}", 'queries = "hierarchy"']
        lines += [f'level_weights = "{level_weights}"', "[attributes.geography.hierarchy]"]
        for state, counties in hierarchy.items():
            inner = ", ".join(f'"{county}" = {listed(tracts)}' for county, tracts in counties.items())
            lines.append(f'"{state}" = {{ {inner} }}')
        for name, labels in (("age", AGES), ("sex", SEXES), ("race", RACES)):
            lines += [f"[attributes.{name}]", f"values = {listed(labels)}"]
        return "\n".join(lines) + "\n"


def listed(labels: list[str]) -> str:
    return "[" + ", ".join(f'"{label}"' for label in labels) + "]"


def sized_arguments(description: str) -> argparse.ArgumentParser:
    """The sizes of the real thing, unless one asks for others."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("folder", type=Path)
    sizes = {"states": 52, "counties": 3143, "tracts": 84_000, "people": 330_000_000}
    for name, size in sizes.items():
        arguments.add_argument(f"--{name}", type=int, default=size)
    arguments.add_argument("--rho", default="2.56", help="the budget")
    arguments.add_argument("--tables", default="<=4", help="the marginals of the spec")
    levels = "what tracts, counties and states count for: each level alike, or each answer"
    arguments.add_argument("--level-weights", default="equal", choices=["equal", "answers"], help=levels)
    return arguments


def main() -> None:
    arguments = sized_arguments((__doc__ or "").splitlines()[0])
    arguments.add_argument("--store", action="store_true", help="write the people too, to people.parquet")
    asked = arguments.parse_args()
    country = Country(asked.states, asked.counties, asked.tracts, asked.people)
    asked.folder.mkdir(parents=True, exist_ok=True)
    source = "people.parquet" if asked.store else ""
    spec = country.spec(asked.rho, asked.tables, source, asked.level_weights)
    (asked.folder / "country.toml").write_text(spec, encoding="utf-8")
    if asked.store:
        people = country.people()
        first = next(people)
        schema = pa.schema([(name, pa.string()) for name in first.schema.names])
        with pq.ParquetWriter(asked.folder / source, schema) as writer:
            for batch in itertools.chain([first], people):
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))


if __name__ == "__main__":
    main()
