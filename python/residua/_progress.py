"""A bar for long work, by tqdm if it is installed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

Show = Callable[[str, int, int], None]


class _Bar:
    """Measuring as a share of its tables; reading only as time that passes, for the number of rows
    is a true count, and notebooks keep what they show."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._phase = ""
        self._bar: Any = None

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self.close()
            self._phase = phase
            form = {"bar_format": "{desc}: {elapsed}"} if phase == "Reading" else {}
            self._bar = self._tqdm(desc=phase, leave=False, delay=1, **form)
        if phase != "Reading":
            self._bar.total = total
            self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextlib.contextmanager
def shower(progress: bool | Show | None) -> Iterator[Show | None]:
    """What is called with the phase, what is done, and of how much; None shows nothing."""
    if callable(progress):
        yield progress
        return
    if progress is False:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar = _Bar(tqdm)
    try:
        yield bar
    finally:
        bar.close()
