"""Estimates with their error bars, and what two of them say together."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from residua import _residua
from residua._plain import number

if TYPE_CHECKING:
    from residua._release import Release


class Interval(NamedTuple):
    """The two ends of a confidence interval.

    >>> import residua as rs
    >>> rs.Interval(1.0, 2.0).upper
    2.0
    """

    lower: float
    upper: float


@dataclass(frozen=True)
class Estimate:
    """An unbiased estimate, which may be negative, and its exact standard deviation.

    Two estimates of one release share noise, so the error of their difference does not follow from
    the two standard deviations. Use :meth:`Release.compare`. An estimate that :meth:`Release.query`
    made knows its `question` and its `release`.

    >>> import residua as rs
    >>> [round(end, 3) for end in rs.Estimate(100.0, 10.0).interval(0.95)]
    [80.4, 119.6]
    """

    value: float
    std_dev: float
    question: Any = field(default=None, repr=False, compare=False)
    half_step: float = field(default=0.0, repr=False, compare=False)
    release: Release | None = field(default=None, repr=False, compare=False)

    @property
    def variance(self) -> float:
        """The square of the standard deviation.

        >>> import residua as rs
        >>> rs.Estimate(100.0, 10.0).variance
        100.0
        """
        return self.std_dev**2

    def interval(self, confidence: float = 0.95) -> Interval:
        """The interval that contains the true number with this probability.

        >>> import residua as rs
        >>> rs.Estimate(0.0, 1.0).interval(0.6827).upper.__round__(3)
        1.0
        """
        factor = _residua.quantile(number(confidence, "confidence"))
        half = factor * self.std_dev
        if self.half_step > 0:  # noise of releases of residua up to 0.4 may be coarse
            half += _residua.interval_widening(factor, self.variance, self.half_step)
        return Interval(self.value - half, self.value + half)


@dataclass(frozen=True)
class Mean:
    """The mean of a number: the ratio of its `sum` to the `count` of the rows that have one. Made by
    :meth:`Release.mean`.

    Both are unbiased estimates that share noise. The true mean is in the public `range` of the
    number, and so are :attr:`value` and :meth:`interval`. `std_dev` is that of the ratio by the
    delta method; the interval is Fieller's, which holds for any number of rows.

    >>> release = example_means()
    >>> release.mean("delay", carrier="AA").interval(0.95).lower > 0
    True
    """

    sum: Estimate
    count: Estimate
    range: tuple[float, float] = (float("-inf"), float("inf"))

    @property
    def ratio(self) -> float:
        """The sum over the count, which noise can move out of the range; not a number where the
        count is not positive.

        >>> round(example_means().mean("delay").ratio)
        20
        """
        return self.sum.value / self.count.value if self.count.value > 0 else float("nan")

    @property
    def value(self) -> float:
        """The point of the range that is nearest to the ratio; not a number where the count is not
        positive.

        >>> round(example_means().mean("delay").value)
        20
        """
        low, high = self.range
        return self.ratio if isnan(self.ratio) else min(max(self.ratio, low), high)

    @property
    def std_dev(self) -> float:
        """By the delta method, which needs a count well above its noise.

        >>> example_means().mean("delay").std_dev < 5
        True
        """
        ratio = self.ratio
        spread = (
            self.sum.variance
            - 2 * ratio * covariance(self.sum, self.count)
            + ratio**2 * self.count.variance
        )
        return float(max(0.0, spread) ** 0.5 / self.count.value)

    def interval(self, confidence: float = 0.95) -> Interval | None:
        """The interval that contains the true mean with this probability; None where the rows are
        too few at this noise: then it would be the whole range.

        >>> example_means().mean("delay", carrier="ZZ").interval() is None
        True
        """
        ends = _residua.mean_interval(
            self.range,
            (self.sum.value, self.sum.variance),
            (self.count.value, self.count.variance),
            covariance(self.sum, self.count),
            number(confidence, "confidence"),
        )
        return Interval(*ends) if ends else None

    def minus(self, other: Mean) -> Estimate:
        """The difference of two means of one release or of two, with the noise that they share
        taken into account. It is that of the ratios, wherever they are; its standard deviation is
        by the delta method.

        >>> release = example_means()
        >>> apart = release.mean("delay", carrier="AA").minus(release.mean("delay", carrier="DL"))
        >>> apart.std_dev > 0
        True
        """
        terms = [(weight, part) for weight, part in self._linear()]
        terms += [(-weight, part) for weight, part in other._linear()]
        spread = sum(a * b * covariance(x, y) for a, x in terms for b, y in terms)
        return Estimate(self.ratio - other.ratio, float(max(0.0, spread) ** 0.5))

    def _linear(self) -> list[tuple[float, Estimate]]:
        """What its error is a combination of, to first order."""
        if self.interval() is None:
            raise _residua.InputError(
                "a mean has too few rows for its noise to be compared; ask for more rows at once"
            )
        rows = self.count.value
        return [(1 / rows, self.sum), (-self.ratio / rows, self.count)]


@dataclass(frozen=True)
class Comparison:
    """Two estimates, with the noise that they share taken into account.

    `ratio` is an interval for the first divided by the second; None if the second is too close to 0
    for its noise. Made by :meth:`Release.compare`.

    >>> import residua as rs
    >>> rs.Comparison.__dataclass_fields__.keys() >= {"difference", "ratio"}
    True
    """

    first: Estimate
    second: Estimate
    covariance: float
    correlation: float
    difference: Estimate
    sum: Estimate
    ratio: Interval | None


def covariance(first: Estimate, second: Estimate) -> float:
    """Of two estimates that queries made. The noise of different releases is independent, whether
    they are of the same data or not, unless one is combined from the other."""
    a, b = first.release, second.release
    if a is None or b is None:
        raise _residua.InputError("this estimate was not made by query; ask by a text or by terms")
    if not a._release.is_same(b._release):
        if (a.plan.parts or b.plan.parts) and a._release.shares_noise(b._release):
            raise _residua.InputError(
                "these estimates share noise, because one release is combined from the other; ask "
                "both questions of the combined release"
            )
        return 0.0
    return float(a._release.covariance(a._worded(first.question), a._worded(second.question)))


def compare(first: Estimate, second: Estimate, confidence: float) -> Comparison:
    shared = covariance(first, second)
    ratio = _residua.ratio(
        (first.value, first.variance), (second.value, second.variance), shared, confidence
    )
    half_step = first.half_step + second.half_step
    spread = max(0.0, first.variance + second.variance - 2 * shared) ** 0.5
    both = max(0.0, first.variance + second.variance + 2 * shared) ** 0.5
    return Comparison(
        first,
        second,
        shared,
        shared / apart if (apart := first.std_dev * second.std_dev) > 0 else 0.0,
        Estimate(first.value - second.value, spread, half_step=half_step),
        Estimate(first.value + second.value, both, half_step=half_step),
        Interval(*ratio) if ratio else None,
    )
