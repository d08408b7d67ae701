"""From a CSV file to a release folder, in Python. Run it in a folder of its own:

    python3 make_people.py 20000 > people.csv
    python3 release_people.py people.csv
"""

from __future__ import annotations

import sys

import residua as rs

PEOPLE = rs.Domain(
    age=rs.integers(0, 99, queries="prefix", outside="clamp"),
    sex=["female", "male"],
    education=rs.values(
        "primary", "secondary", "vocational", "bachelor", "master", "doctorate", null=True
    ),
    income=rs.cuts(5000, 10_000, 20_000, 40_000, 80_000),
)


def main(source: str) -> None:
    plan = rs.plan(PEOPLE, marginals="<=2", objective="max-variance", rho=0.5)
    print(plan.privacy)
    print(f"largest standard deviation: {plan.max_std_dev:.1f}")

    check = plan.check(source)
    for problem in check.problems:
        print(f"to fix: {problem}")
    if not check.is_ready:
        return

    release = plan.release(source, "people_release", title="Made-up people", progress=False)
    women: rs.Estimate = release.query(age=rs.between(18, 64), sex="female")
    men: rs.Estimate = release.query(age=rs.between(18, 64), sex="male")
    lower, upper = women.interval(0.95)
    print(f"women from 18 to 64: {women.value:.0f}, 95 % interval {lower:.0f} to {upper:.0f}")
    difference = release.compare(women, men).difference
    print(f"more than men: {difference.value:.0f} with standard deviation {difference.std_dev:.1f}")
    for names in release.tables():
        print(" x ".join(names) or "total")


if __name__ == "__main__":
    main(sys.argv[1])
