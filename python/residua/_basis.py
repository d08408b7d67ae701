"""The residual bases of attributes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from residua import _residua
from residua._plain import Array


@dataclass(frozen=True, eq=False)
class Basis:
    """The residual basis of one attribute: what is measured of it, and how its answers follow.

    `matrix` holds integers. It is applied to the counts along the axis of the attribute, before
    noise is added. `queries` is the query matrix, one row per query. A base mechanism of variance v
    adds this to the covariance of the answers of a table: v times the Kronecker product of
    `residual_covariance` for its own attributes and `constant_covariance` for the other attributes
    of the table. `privacy_cost` is the cost at variance 1: `squared_sensitivity` /
    `variance_factor`.

    >>> import residua as rs
    >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
    >>> plan.basis("sex").matrix.tolist()
    [[1, -1], [-1, 1]]
    """

    matrix: npt.NDArray[np.int64]
    queries: Array
    residual_covariance: Array
    constant_covariance: Array
    privacy_cost: float
    squared_sensitivity: int
    variance_factor: int


def table_covariances(
    bases: Sequence[Basis], noise_variance: Callable[[Sequence[bool]], float]
) -> Array:
    """The covariance matrix of all answers of a table on attributes of these bases.
    `noise_variance` is that of the base mechanism on those of them that are inside."""
    num_answers = int(np.prod([len(b.queries) for b in bases], dtype=float))
    if num_answers > 20_000:
        raise _residua.InputError(
            f"the covariance matrix of {num_answers} answers does not fit memory; ask for variances, or for a smaller table"
        )
    total = np.zeros((num_answers, num_answers))
    for inside in itertools.product((False, True), repeat=len(bases)):
        term: npt.NDArray[Any] = np.ones((1, 1))
        for is_inside, basis in zip(inside, bases, strict=True):
            factor = basis.residual_covariance if is_inside else basis.constant_covariance
            term = np.kron(term, factor)
        total += noise_variance(inside) * term
    return total
