"""Every public name is documented with an example, and every example runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pandas as pd
import pytest

import residua as rs
from conftest import ROOT, example_ledger, example_release

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
    extra = {"example_release": example_release, "example_ledger": example_ledger}
    result = doctest.testmod(
        importlib.import_module(module), extraglobs=extra, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert result.failed == 0


def test_page():
    """The code of docs/python.md, in order, as one script."""
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = [block.partition("\n```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) > 5
    script = "\n".join(blocks)
    exec(compile(script, "docs/python.md", "exec"), {"__name__": "page"})
