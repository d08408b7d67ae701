"""Every public name is documented with an example, and every example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pandas as pd
import pytest

import residua as rs
from conftest import ROOT, example_ledger, example_means, example_release, python_of

MODULES = sorted(f"residua.{m.name}" for m in pkgutil.iter_modules(rs.__path__))
assert len(MODULES) > 8


def public_names():
    for name in rs.__all__:
        item = getattr(rs, name)
        yield name, item
        if inspect.isclass(item):
            for member, value in vars(item).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
                    yield f"{name}.{member}", value.__func__ if isinstance(value, classmethod) else value


@pytest.mark.parametrize(("name", "item"), list(public_names()), ids=lambda value: value if isinstance(value, str) else "")
def test_documented_with_an_example(name, item):
    doc = inspect.getdoc(item)
    assert doc, f"{name} has no docstring"
    assert ">>>" in doc, f"{name} has no example"


def test_everything_public_is_listed():
    found = {name for name, item in vars(rs).items() if not name.startswith("_") and not inspect.ismodule(item)}
    assert found - {"version"} == set(rs.__all__)


@pytest.mark.parametrize("module", ["residua", *MODULES])
def test_examples(module):
    pd.set_option("display.width", 200)
    extra = {
        "example_release": example_release,
        "example_means": example_means,
        "example_ledger": example_ledger,
    }
    result = doctest.testmod(
        importlib.import_module(module), extraglobs=extra, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.failed == 0


def test_page():
    """The code of docs/python.md, in order, as one script."""
    script = python_of(ROOT / "docs/python.md")
    assert script.count("\n") > 60
    exec(compile(script, "docs/python.md", "exec"), {"__name__": "page"})


def test_readme(people):
    """The example of the README, on people who are there already."""
    script = python_of(ROOT / "README.md")
    people = people.assign(age=people["age"].clip(0, 99))
    named = {"__name__": "readme", "df": people}
    exec(compile(script, "README.md", "exec"), named)
    assert rs.load("people.parquet").query() == named["release"].query()


def test_every_page_can_be_found():
    """docs/README.md, which the site begins with, leads to every page."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in index, f"docs/README.md does not list {page.name}"
