"""Several releases of the same data together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

from residua import _residua
from residua._release import Release


def combine(*releases: Release, same_data: bool = False) -> Release:
    """One release with the best unbiased estimates that several releases of the same data give
    together. Reads no data and spends nothing; its privacy cost is the sum of theirs.

    Releases of different data are refused, and so is a release that comes twice, itself or within a
    combination. Releases of residua up to 0.4 do not say which data they measure: vouch for them
    with `same_data`. Sets that were measured in other bases cannot be combined and are left out,
    with a warning; plan with ``after=`` to keep the bases.

    >>> import residua as rs, pandas as pd
    >>> people = pd.DataFrame({"age": [3, 50, 70], "sex": ["female", "male", "male"]})
    >>> domain = rs.Domain(age=rs.integers(0, 99), sex=["female", "male"])
    >>> ledger = rs.Ledger.create("twice.ledger", rho=2, reason="an example")
    >>> first = rs.plan(domain, marginals="<=2", rho=1).measure(people, ledger="twice.ledger")
    >>> more = rs.plan(domain, marginals=1, rho=1, after=first)
    >>> both = rs.combine(first, more.measure(people, ledger="twice.ledger"))
    >>> both.query(sex="male").std_dev < first.query(sex="male").std_dev
    True
    >>> len(both.plan.parts)
    2
    """
    for release in releases:
        if not isinstance(release, Release):
            raise _residua.InputError(
                f"combine: expected residua.Release objects, found {type(release).__name__}"
            )
    combined, notes = _residua.combine([release._release for release in releases], bool(same_data))
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return Release(combined)


def releases_of(after: Release | Sequence[Release]) -> list[_residua.Release]:
    """The argument `after`: one release or several."""
    several = after if isinstance(after, Iterable) else [after]
    earlier = [after] if isinstance(after, Release) else list(several)
    if not all(isinstance(release, Release) for release in earlier):
        raise _residua.InputError("after: expected a residua.Release, or several")
    return [release._release for release in earlier]
