"""A bar for long work, by tqdm if it is installed."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

Show = Callable[[str, int, int], None]

_QUIET_SECONDS = 1.0


class _Bar:
    """Measuring as a share of its tables; reading only as time that passes, for the number of rows
    is a true count, and notebooks keep what they show."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._phase = ""
        self._bar: Any = None

    def __call__(self, phase: str, done: int, total: int) -> None:
        if time.monotonic() - self._since < _QUIET_SECONDS:
            return
        if phase != self._phase:
            self.close()
            self._phase = phase
            form = {"bar_format": "{desc}: {elapsed}"} if phase == "Reading" else {}
            self._bar = _make_bar(desc=phase, leave=False, **form)
        if self._bar is None:
            return
        if phase != "Reading":
            self._bar.total = total
            self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _make_bar(**options: Any) -> Any:
    """None if tqdm is not installed. It is asked for only here: work that is soon done needs none."""
    try:
        with warnings.catch_warnings():
            # Of notebooks without widgets, where it then draws text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(**options)


@contextlib.contextmanager
def shower(progress: bool | Show | None) -> Iterator[Show | None]:
    """What is called with the phase, what is done, and of how much; None shows nothing."""
    if callable(progress):
        yield progress
        return
    if progress is False:
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()
