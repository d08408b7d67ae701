"""What was granted for one data set and what was spent on it."""

from __future__ import annotations

import os
import warnings
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, Self

import pandas as pd

from residua import _html, _residua
from residua._plain import place, text, whole
from residua._spec import Neighbours, Number


class Balance(NamedTuple):
    """What was granted and what was spent, both as rho and exact.

    >>> import residua as rs
    >>> rs.Balance(1, 0.5).granted
    1
    """

    granted: Fraction
    spent: Fraction


class Ledger:
    """The ledger of one data set: an SQLite file, which the command line uses too.

    The first measurement makes it and grants the budget of its plan. Every spend is written before
    noise is drawn. A person can grant more, with a reason.

    >>> import residua as rs, pandas as pd
    >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
    >>> release = plan.measure(pd.DataFrame({"sex": ["male"]}), ledger="book.ledger")
    >>> ledger = rs.Ledger("book.ledger")
    >>> ledger.entries()[["kind", "rho"]].round(3)
          kind  rho
    0  granted  1.0
    1    spent  1.0
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = Path(place(path, "path"))
        _residua.ledger_balance(self.path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        rho: Number | None = None,
        mu: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        reason: str,
        neighbours: Neighbours = "add-remove",
        identifier: str | None = None,
        max_rows: int | None = None,
    ) -> Self:
        """Sets the budget of data before its first measurement, which otherwise grants its own.

        `neighbours`, or `identifier` and `max_rows`, are those of the plans to come. A file that is
        there is refused. The ledger of a data file is named like it, with ``.ledger`` at its end.

        >>> import residua as rs
        >>> rs.Ledger.create("new.ledger", rho=1, reason="board decision of 3 May").balance
        Balance(granted=Fraction(1, 1), spent=Fraction(0, 1))
        """
        given = _budget(rho=rho, mu=mu, epsilon=epsilon, delta=delta)
        if (identifier is None) != (max_rows is None):
            raise _residua.InputError("identifier and max_rows go together; give both")
        _residua.ledger_create(
            Path(place(path, "path")),
            given,
            text(reason, "reason"),
            text(neighbours, "neighbours"),
            "" if identifier is None else text(identifier, "identifier"),
            1 if max_rows is None else whole(max_rows, "max_rows"),
        )
        return cls(path)

    def entries(self) -> pd.DataFrame:
        """One row per entry: id, kind (granted, reserved, spent, forgiven, refused), time (UTC),
        rho, delta, the exact pcost, the digest of the plan, what it was for, for which neighbours,
        a note if another ledger has the spend as well, and the exact mu2, the square of mu.

        A spend is "reserved" before noise is drawn and "spent" when it is done; both count.

        >>> import residua as rs
        >>> rs.Ledger(example_ledger()).entries()["kind"].tolist()
        ['granted', 'spent']
        """
        columns = ["id", "kind", "time", "rho", "delta", "pcost", "plan", "what", "neighbours"]
        entries = _residua.ledger_entries(self.path)
        frame = pd.DataFrame(entries, columns=[*columns, "note"])
        frame["time"] = pd.to_datetime(frame["time"], utc=True)
        frame["pcost"] = [Fraction(text) for text in frame["pcost"]]
        mu2 = [None if row["mu2"] is None else Fraction(row["mu2"]) for row in entries]
        frame["mu2"] = pd.Series(mu2, dtype=object)
        return frame

    @property
    def balance(self) -> Balance:
        """What was granted and what was spent, as rho.

        >>> import residua as rs
        >>> granted, spent = rs.Ledger(example_ledger()).balance
        >>> granted, spent <= granted
        (Fraction(1, 1), True)
        """
        granted, spent, _, _ = _residua.ledger_balance(self.path)
        return Balance(Fraction(granted) / 2, Fraction(spent) / 2)

    @property
    def balance_mu2(self) -> Balance:
        """The same on the Gaussian curve, as mu squared: what was granted in mu or epsilon, and what
        was spent by releases whose cost on the curve is known.

        >>> import residua as rs
        >>> ledger = rs.Ledger(example_ledger())
        >>> ledger.grant(mu="1/2", reason="board decision of 3 May")
        >>> ledger.balance_mu2.granted
        Fraction(1, 4)
        """
        _, _, granted, spent = _residua.ledger_balance(self.path)
        return Balance(Fraction(granted), Fraction(spent))

    def grant(
        self,
        *,
        rho: Number | None = None,
        mu: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        reason: str,
    ) -> None:
        """Adds to the budget. The reason is recorded.

        >>> import residua as rs
        >>> ledger = rs.Ledger(example_ledger())
        >>> ledger.grant(rho="1/2", reason="board decision of 3 May")
        >>> ledger.balance.granted
        Fraction(3, 2)
        """
        given = _budget(rho=rho, mu=mu, epsilon=epsilon, delta=delta)
        _residua.ledger_grant(self.path, given, text(reason, "reason"))

    def forgive(self, entry: int, *, reason: str) -> None:
        """Stops counting a reserved spend. The reason must say why nothing of it was published.

        >>> import residua as rs
        >>> try:
        ...     rs.Ledger(example_ledger()).forgive(2, reason="it crashed; nothing was published")
        ... except rs.Error as error:
        ...     print("not so:", str(error).partition(": ")[2])
        not so: entry 2 is not a spend that is reserved and not confirmed
        """
        _residua.ledger_forgive(self.path, whole(entry, "entry"), text(reason, "reason"))

    def __repr__(self) -> str:
        return f"<residua.Ledger {self.path}: {_residua.ledger_in_words(self.path)}>"

    def _repr_html_(self) -> str:
        rows = [
            (
                entry.id,
                entry.kind,
                entry.time.strftime("%Y-%m-%d %H:%M"),
                # What is granted on the Gaussian curve has no rho.
                "" if entry.pcost == 0 and entry.mu2 else entry.rho,
                float(entry.mu2) if entry.mu2 else "",
                entry.what,
            )
            for entry in self.entries().itertuples(index=False)
        ]
        return _html.table(repr(self)[1:-1], ["id", "kind", "time", "rho", "mu^2", "what"], rows)


def _budget(**units: Number | None) -> dict[str, str]:
    """The units that are given, as exact texts."""
    given = {}
    for unit, amount in units.items():
        if amount is None:
            continue
        try:
            given[unit] = str(Fraction(str(amount)))
        except (ValueError, ZeroDivisionError):
            raise _residua.InputError(
                f"{unit} is {amount!r}; give a number, such as 0.5 or '1/3'"
            ) from None
    return given


def warn_of_two_ledgers(measured: _residua.Measured) -> None:
    """For the caller of whoever calls this."""
    if measured.ledger_beside:
        warnings.warn(
            f"{measured.ledger_beside} lies beside the data, and {measured.ledger} was named; "
            "the spend is in both ledgers",
            stacklevel=3,
        )
