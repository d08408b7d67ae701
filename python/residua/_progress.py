"""A progress bar for long work, if tqdm is installed."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

Show = Callable[[str, int, int], None]

_QUIET_SECONDS = 1.0


class _Bar:
    """Measuring shows how many sets are done. Reading shows only the time: the number of rows is a
    true count, and notebooks keep what they show."""

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
    """None if tqdm is not installed. It is imported only here, when work takes long."""
    try:
        with warnings.catch_warnings():
            # It warns in notebooks without widgets, where it draws text instead.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(**options)


@contextlib.contextmanager
def shower(progress: bool | Show | None) -> Iterator[Show | None]:
    """The function that is called with the phase, the work done and the work in all; None shows
    nothing."""
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
