"""What a plan and its data say about a release, before anything is spent."""

from __future__ import annotations

from typing import Any

import pandas as pd

from residua._plain import counted


class Check:
    """What would stop a release, and what one should know before. Made by :meth:`Plan.check`.

    All of it is read from the data, without noise: it is for you, not for publication. So nothing
    of it is shown unless you ask: notebooks keep what they show.

    >>> import residua as rs, pandas as pd
    >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
    >>> check = plan.check(pd.DataFrame({"sex": ["male", "unknown"]}))
    >>> check
    <residua.Check: not ready, 1 problem, 2 warnings>
    >>> print(check.problems[0].partition(";")[0])
    the data: column 'sex' has the value 'unknown' (row 2), not among its values
    """

    def __init__(
        self,
        problems: list[str],
        warnings: list[str],
        attributes: list[dict[str, Any]],
        rows: int,
        rows_left_out: int,
        memory_bytes: float,
        seconds: float,
    ) -> None:
        #: Each would stop a release.
        self.problems = problems
        #: What does not stop it.
        self.warnings = warnings
        #: The rows of the data, and those of them that would be left out.
        self.rows = rows
        self.rows_left_out = rows_left_out
        #: What a release takes, roughly.
        self.memory_bytes = memory_bytes
        self.seconds = seconds
        self._attributes = attributes

    @property
    def is_ready(self) -> bool:
        """Whether nothing stops a release.

        >>> import residua as rs, pandas as pd
        >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
        >>> plan.check(pd.DataFrame({"sex": ["male"]})).is_ready
        True
        """
        return not self.problems

    @property
    def attributes(self) -> pd.DataFrame:
        """One row per attribute: its column, how many values are missing, how many have no cell,
        and some of those values.

        >>> import residua as rs, pandas as pd
        >>> plan = rs.plan(rs.Domain(sex=["female", "male"]), marginals=1, rho=1)
        >>> check = plan.check(pd.DataFrame({"sex": ["male", "unknown", "unknown"]}))
        >>> check.attributes[["attribute", "outside", "values_outside"]].values.tolist()
        [['sex', 2, ["'unknown'"]]]
        """
        columns = ["attribute", "column", "missing", "outside", "values_outside"]
        return pd.DataFrame(self._attributes, columns=columns)

    def __repr__(self) -> str:
        told = ["ready" if self.is_ready else "not ready"]
        for number, noun in ((len(self.problems), "problem"), (len(self.warnings), "warning")):
            if number:
                told.append(counted(number, noun))
        return f"<residua.Check: {', '.join(told)}>"
