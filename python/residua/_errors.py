"""The errors of a plan as tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from residua import _residua
from residua._layout import Layout


def errors_of(file: _residua.PlanFile, layout: Layout) -> pd.DataFrame:
    """As :meth:`Plan.errors`."""
    tables, cells, mean, largest, sums, means = file.errors()
    errors = pd.DataFrame(
        {
            "table": [" x ".join(layout.names(table)) or "total" for table in tables],
            "order": np.array([len(table) for table in tables], dtype=np.int64),
            "cells": cells.astype(np.int64) if (cells < 2**53).all() else cells,
            "std_dev": np.sqrt(mean),
            "max_std_dev": np.sqrt(largest),
        }
    )
    if any("mean" in attribute for attribute in layout.attributes):
        errors["sum_std_dev"] = np.sqrt(sums)
        errors["mean_std_dev_times_rows"] = np.sqrt(means)
    return errors


def level_errors_of(file: _residua.PlanFile) -> pd.DataFrame:
    """As :meth:`Plan.level_errors`."""
    names = ["attribute", "level", "places", "example", "cells", "std_dev", "max_std_dev"]
    errors = pd.DataFrame(file.level_errors(), columns=names)
    for name in ("std_dev", "max_std_dev"):
        errors[name] = np.sqrt(errors[name].astype(float))
    return errors
