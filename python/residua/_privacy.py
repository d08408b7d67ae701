"""What a plan costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from residua import _residua


@dataclass(frozen=True)
class Privacy:
    """What a plan costs, in every unit. The floats are rounded up.

    `rho` is the cost in zero-concentrated and `mu` in Gaussian differential privacy; `epsilon`
    holds at `delta`. All are proven for the discrete noise that residua adds. `pcost`, twice rho,
    and `mu2`, the square of mu, are exact. The budget, `budget_pcost`, limits the first if it was
    given in rho or pcost, the second if it was given in mu or epsilon. `mu` and `mu2` may be None
    for plans of residua up to 0.4. `neighbours` says which two data sets a release can hardly tell
    apart.

    >>> import residua as rs
    >>> privacy = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho="1/3").privacy
    >>> privacy.budget_pcost, privacy.pcost <= privacy.budget_pcost
    (Fraction(2, 3), True)
    >>> privacy
    <residua.Privacy: rho 0.333334, mu 0.816497, epsilon 4.94192 at delta 1e-09; add or remove one row>
    """

    pcost: Fraction
    mu2: Fraction | None
    budget_pcost: Fraction
    rho: float
    mu: float | None
    epsilon: float
    delta: float
    neighbours: str

    def __repr__(self) -> str:
        return (
            f"<residua.Privacy: rho {text_above(self.rho)}, "
            + ("" if self.mu is None else f"mu {text_above(self.mu)}, ")
            + f"epsilon {text_above(self.epsilon)} at delta {_residua.text_above(repr(self.delta))}; "
            f"{self.neighbours}>"
        )


def text_above(number: float) -> str:
    """Six digits, never below the number."""
    return _residua.text_above(str(Fraction(number)))
