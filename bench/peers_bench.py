#!/usr/bin/env python3
"""All tables of up to two columns of made-up people, by residua, by noise table by table, and by OpenDP.

The same rows, tables and rho for each; the error is against the truth, which is known here. OpenDP has an environment of
its own, build/peers, which this makes. Prints a table in Markdown.
"""

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RHO = 0.5
SIZES = {"age": 20, "sex": 2, "district": 12, "education": 7, "income": 6}
TABLES = [names for order in range(3) for names in itertools.combinations(SIZES, order)]
OPENDP = "opendp[polars]==0.16.0"


def truth_of(frame):
    import numpy as np

    tables = []
    for names in TABLES:
        counts = np.zeros([SIZES[name] for name in names])
        np.add.at(counts, tuple(frame[name] for name in names), 1 if names else len(frame))
        tables.append(counts)
    return tables


def make_rows(rows):
    """The people, as cell numbers."""
    import io

    import pandas as pd

    made = subprocess.run([sys.executable, ROOT / "examples/make_people.py", str(rows)], capture_output=True, check=True)
    people = pd.read_csv(io.BytesIO(made.stdout))
    edges = [-1, 5_000, 10_000, 20_000, 40_000, 80_000, 1e18]
    return pd.DataFrame(
        {
            "age": people["age"].clip(0, 99).astype(int) // 5,
            "sex": people["sex"].astype("category").cat.codes.astype("int64"),
            "district": people["district"].astype("category").cat.codes.astype("int64"),
            "education": people["education"].fillna("none").astype("category").cat.codes.astype("int64"),
            "income": pd.cut(people["income"], edges, labels=False).astype("int64"),
        }
    )


def residua(frame, folder):
    import residua as rs

    plan = rs.plan(rs.Domain(SIZES), marginals="<=2", weights="cells", rho=RHO)
    release = plan.measure(frame, ledger=folder / "people.ledger", progress=False)
    return [release.estimates(*names) for names in TABLES]


def table_by_table(frame):
    """Gaussian noise with the budget divided in the best way for the sum of all squared errors; not for a release."""
    import numpy as np

    truth = truth_of(frame)
    share = np.sqrt([table.size for table in truth])
    bits = np.random.default_rng()
    variances = share.sum() / (2 * RHO) / share
    return [t + bits.normal(0, np.sqrt(v), t.shape) for t, v in zip(truth, variances, strict=True)]


def opendp(file):
    """What OpenDP's context API gives: the budget is split evenly."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    start = time.perf_counter()
    rows = pl.scan_parquet(file)
    context = dp.Context.compositor(
        data=rows,
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=RHO),
        split_evenly_over=len(TABLES),
    )
    answers = []
    for names in TABLES:
        if not names:
            answers.append([context.query().select(dp.len()).release().collect().item()])
            continue
        keys = pl.DataFrame(
            list(itertools.product(*(range(SIZES[name]) for name in names))),
            schema=dict.fromkeys(names, pl.Int64), orient="row",
        )
        query = context.query().group_by(list(names)).agg(dp.len()).with_keys(keys)
        counted = query.release().collect()
        answers.append(keys.join(counted, on=list(names), how="left").fill_null(0)["len"].to_list())
    print(json.dumps({"seconds": time.perf_counter() - start, "answers": answers}))


def by_opendp(frame, folder):
    environment = ROOT / "build/peers"
    python = environment / "bin/python"
    pins = environment / "pins"  # written last: an environment without it is made again
    if not pins.exists() or pins.read_text() != OPENDP:
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", OPENDP], check=True)
        pins.write_text(OPENDP)
    frame.to_parquet(folder / "rows.parquet")
    done = subprocess.run([python, __file__, "--opendp", folder / "rows.parquet"], stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(done.stdout)
    return told["answers"], told["seconds"]


def main():
    import numpy as np

    frame = make_rows(20_000)
    truth = truth_of(frame)

    def error(answers):
        squares = [((np.ravel(a) - t.ravel()) ** 2).sum() for a, t in zip(answers, truth, strict=True)]
        return np.sqrt(sum(squares) / sum(t.size for t in truth))

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        lines = []
        start = time.perf_counter()
        answers = residua(frame, folder)
        lines.append(("residua", error(answers), time.perf_counter() - start))
        start = time.perf_counter()
        answers = table_by_table(frame)
        lines.append(("noise table by table, best split", error(answers), time.perf_counter() - start))
        answers, seconds = by_opendp(frame, folder)
        lines.append((f"OpenDP {OPENDP.partition('==')[2]}, context API", error(answers), seconds))
    print(f"{len(frame):,} rows of {len(SIZES)} columns, {len(TABLES)} tables, {sum(t.size for t in truth):,} cells, rho {RHO}\n")
    print("| | RMSE | seconds |\n|---|---|---|")
    for name, rmse, seconds in lines:
        print(f"| {name} | {rmse:.2f} | {seconds:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--opendp"]:
        opendp(sys.argv[2])
    else:
        main()
