"""Differentially private tables with exact error bars.

>>> import pandas as pd
>>> import residua as rs
>>> people = rs.Domain(
...     age=rs.integers(0, 99, queries="prefix"),
...     sex=["female", "male"],
...     income=rs.cuts(10_000, 25_000, 50_000),
... )
>>> plan = rs.plan(people, marginals="<=2", objective="max-variance", rho=0.5)
>>> frame = pd.DataFrame(
...     {"age": [30, 41], "sex": ["female", "male"], "income": [31_000.0, 9_000.0]})
>>> release = plan.measure(frame, ledger="readme.ledger")
>>> release.query(age=(18, 30), sex="female").interval(0.95).lower < 1000
True
"""

from residua._attributes import (
    Attribute,
    Domain,
    cuts,
    dates,
    integers,
    numbers,
    part,
    size,
    values,
)
from residua._basis import Basis
from residua._check import Check
from residua._combination import combine
from residua._estimate import Comparison, Estimate, Interval, Mean
from residua._ledger import Balance, Ledger
from residua._page import Page
from residua._plan import Plan, load_plan
from residua._planning import plan
from residua._privacy import Privacy
from residua._release import Release, load, load_release, verify
from residua._residua import Error, InputError, NotFoundError, Refused, version
from residua._spec import Spec, init
from residua._synthetic import Synthetic
from residua._tables import Adjusted, Tables
from residua._terms import Term, between, isin, weights

__version__: str = version

__all__ = [
    "Adjusted",
    "Attribute",
    "Balance",
    "Basis",
    "Check",
    "Comparison",
    "Domain",
    "Error",
    "Estimate",
    "InputError",
    "Interval",
    "Ledger",
    "Mean",
    "NotFoundError",
    "Page",
    "Plan",
    "Privacy",
    "Refused",
    "Release",
    "Spec",
    "Synthetic",
    "Tables",
    "Term",
    "between",
    "combine",
    "cuts",
    "dates",
    "init",
    "integers",
    "isin",
    "load",
    "load_plan",
    "load_release",
    "numbers",
    "part",
    "plan",
    "size",
    "values",
    "verify",
    "weights",
]
