"""Rows on a Spark cluster: counted where they are, by this package on the executors.

:meth:`Plan.measure` and :meth:`Plan.release` take a Spark DataFrame, classic or of Spark Connect.
Every executor needs this package and nothing else. docs/scale.md is the cookbook.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from residua import _residua
from residua._plain import whole

if TYPE_CHECKING:
    from residua._plan import Plan

__all__ = ["Rows", "Size", "size"]

_GIB = 1 << 30
# A piece of counts, or a text about a partition with a number below zero. Both are sealed.
_SCHEMA = "piece bigint, sealed binary"
_ARROW_SCHEMA = pa.schema([("piece", pa.int64()), ("sealed", pa.binary())])
_TEXT = -1
_PIECES_AT_ONCE = 64


@dataclass(frozen=True)
class Rows:
    """The rows of a Spark DataFrame, and how they are counted.

    They are counted in `partitions` parts at most, or one part for every core if it is 0. Each part
    is one task, which may use `task_memory` bytes for its counters; :func:`size` says how many they
    take. What does not fit is refused before the job starts.

    >>> import residua.spark
    >>> residua.spark.Rows(frame=None, partitions=64).task_memory
    1073741824
    """

    frame: Any
    partitions: int = 0
    task_memory: int = _GIB

    def __post_init__(self) -> None:
        if whole(self.partitions, "partitions") < 0:
            raise _residua.InputError(f"partitions is {self.partitions}; it must be 0 or more")
        _checked_memory(self.task_memory)


@dataclass(frozen=True)
class Size:
    """What counting on a cluster takes, whatever the number of rows.

    A task needs about `task_bytes` of memory in its Python worker, and sends `sealed_bytes`. The
    driver holds `sealed_bytes` twice, once in Java and once in Python.

    >>> import residua as rs, residua.spark
    >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals="<=2", rho=1)
    >>> residua.spark.size(plan).cells
    28
    """

    cells: int
    pieces: int
    task_bytes: int
    sealed_bytes: int


def size(plan: Plan, task_memory: int = _GIB) -> Size:
    """What counting for the plan takes on a cluster. Raises :class:`InputError` if the counters
    take more than `task_memory` bytes.

    >>> import residua as rs, residua.spark
    >>> plan = rs.plan(rs.Domain(a=5, b=3), marginals="<=2", rho=1)
    >>> residua.spark.size(plan).pieces
    1
    """
    return Size(**_residua.size_of_parts(plan._file, _checked_memory(task_memory)))


def _checked_memory(task_memory: Any) -> int:
    if isinstance(task_memory, bool) or not isinstance(task_memory, int):
        raise _residua.InputError(
            f"task_memory: expected a whole number of bytes, found {task_memory!r}"
        )
    if not 0 < task_memory < 1 << 62:
        raise _residua.InputError(f"task_memory is {task_memory}; it must be a number of bytes")
    return task_memory


def is_frame(data: Any) -> bool:
    """Whether it is a Spark DataFrame of some kind. Does not import Spark."""
    kinds = type(data).__mro__
    return any(k.__module__.startswith("pyspark.sql") and k.__name__ == "DataFrame" for k in kinds)


@dataclass(frozen=True)
class Counting:
    """What the library calls when it wants the rows counted."""

    rows: Rows
    columns: Sequence[str]
    identifier: str

    @property
    def task_memory(self) -> int:
        return self.rows.task_memory

    def __call__(self, plan: str, key: bytes, is_stopped: Callable[[], bool]) -> list[bytes]:
        job = _Job(plan, self.rows.task_memory, key, tuple(self.columns))
        frame = _selected(self.rows.frame, job)
        session = frame.sparkSession
        number = self.rows.partitions or _num_cores(session)
        if self.identifier:
            # All rows of an identifier in one partition.
            frame = frame.repartition(number, f"c{self.columns.index(self.identifier)}")
        else:
            frame = frame.coalesce(number)
        pieces = frame.mapInArrow(job.counter(), _SCHEMA)
        sums = pieces.repartition(number, "piece").mapInArrow(job.adder(), _SCHEMA)
        rows = _collected(session, sums, is_stopped)
        texts = [row["sealed"] for row in rows if row["piece"] == _TEXT]
        if texts:
            raise job.first_refusal(texts)
        return [bytes(row["sealed"]) for row in rows]


@dataclass(frozen=True)
class _Job:
    """One measurement, as the executors know it. The key is drawn for it, and used for nothing
    else."""

    plan: str
    task_memory: int
    key: bytes = field(repr=False)
    columns: tuple[str, ...]
    version: str = _residua.version

    def open(self) -> _residua.PartsJob:
        if self.version != _residua.version:
            raise RuntimeError(
                f"residua {self.version} is on the driver and {_residua.version} on an executor"
            )
        return _residua.PartsJob(self.plan, self.task_memory, self.key)

    def counter(self) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        """What counts a partition."""

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            named = (batch.rename_columns(list(self.columns)) for batch in batches)
            yield from _count(self.open(), TaskContext.get().partitionId(), named)

        return count

    def adder(self) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
        """What adds up the pieces of all partitions that have the same number."""

        def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from _add(self.open(), batches)

        return add

    def first_refusal(self, texts: Iterable[bytes]) -> Exception:
        """Why the first partition was refused, as it would be said of rows on this machine."""
        opened = self.open()
        told = [opened.unseal_text(bytes(sealed)).split("\n", 2) for sealed in texts]
        _, kind, message = min(told, key=lambda parts: int(parts[0]))
        made: Exception = getattr(_residua, kind)(message)
        return made


def _count(
    job: _residua.PartsJob, partition: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    first = next(batches, None)
    if first is None:
        return  # no rows, and no columns either
    reader = pa.RecordBatchReader.from_batches(first.schema, _chained(first, batches))
    try:
        counts = job.count(partition, reader.__arrow_c_stream__())
    except _residua.Error as error:
        # Raised here, it would be tried again, and come back as a Java stack trace.
        sealed = job.seal_text(f"{partition}\n{type(error).__name__}\n{error}")
        yield _batch([(_TEXT, sealed)])
        return
    yield from _batches((k, counts.piece(k)) for k in range(len(counts)))


def _add(job: _residua.PartsJob, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    sums = job.sums()
    for batch in batches:
        for piece, sealed in zip(batch.column(0), batch.column(1), strict=True):
            if piece.as_py() == _TEXT:
                yield _batch([(_TEXT, sealed.as_py())])
            else:
                sums.add(sealed.as_py())
    yield from _batches((k, sums.piece(k)) for k in sums.pieces())


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest


def _batches(pieces: Iterator[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
    waiting: list[tuple[int, bytes]] = []
    for piece in pieces:
        waiting.append(piece)
        if len(waiting) == _PIECES_AT_ONCE:
            yield _batch(waiting)
            waiting = []
    if waiting:
        yield _batch(waiting)


def _batch(pieces: list[tuple[int, bytes]]) -> pa.RecordBatch:
    numbers, sealed = zip(*pieces, strict=True)
    return pa.RecordBatch.from_arrays(
        [pa.array(numbers, pa.int64()), pa.array(sealed, pa.binary())], schema=_ARROW_SCHEMA
    )


def _selected(frame: Any, job: _Job) -> Any:
    """Only the columns of the job, as c0, c1, ...: Spark does not take every name everywhere. What
    is wrong with their names is said before a job starts."""
    names = list(frame.columns)
    if any(names.count(name) != 1 for name in job.columns):
        nothing = pa.Table.from_arrays([pa.nulls(0)] * len(names), names=names)
        job.open().count(-1, nothing.__arrow_c_stream__())
    quoted = [name.replace("`", "``") for name in job.columns]
    return frame.selectExpr(*(f"`{name}` AS c{k}" for k, name in enumerate(quoted)))


def _context(session: Any) -> Any:
    """The SparkContext of a classic session; None for Spark Connect, which has errors of its own
    for what it does not offer."""
    try:
        return session.sparkContext
    except Exception:
        return None


def _num_cores(session: Any) -> int:
    """Of the whole cluster; Spark Connect does not tell, and shuffles into this many parts."""
    context = _context(session)
    if context:
        return max(int(context.defaultParallelism), 1)
    return max(int(session.conf.get("spark.sql.shuffle.partitions")), 1)


def _collected(session: Any, frame: Any, is_stopped: Callable[[], bool]) -> list[Any]:
    """The rows of the frame. The job is cancelled if its measurement is stopped."""
    context = _context(session)
    tag = f"residua-{secrets.token_hex(8)}"
    rows: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            if context:
                context.setJobGroup(tag, "residua: counting rows", interruptOnCancel=True)
            else:
                session.addTag(tag)
            rows.extend(frame.collect())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name=tag, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        if is_stopped() and thread.is_alive():
            if context:
                context.cancelJobGroup(tag)
            else:
                session.interruptTag(tag)
            thread.join(1)
    if errors:
        raise _residua.Error(f"Spark: {_said(errors[0])}; nothing was spent") from None
    return rows


_CAUSES = {
    r"No module named '(residua|pyarrow|pandas|numpy)'": "an executor cannot import {0}; install the wheel of residua where the executors run",
    r"(residua \S+ is on the driver and \S+ on an executor)": "{0}; install the same wheel on both",
    r"spark\.driver\.maxResultSize": "the sums of the counts are larger than spark.driver.maxResultSize; raise it (residua.spark.size says how many bytes they take)",
    r"Python worker exited unexpectedly|Python worker.{0,40}(?:crash|terminat)": "a Python worker died, most likely for want of memory; give executors more memory beside Java's (spark.executor.memoryOverhead; residua.spark.size says how much a task takes)",
    r"ExecutorLostFailure|executor \d+ exited|Lost executor|worker lost|Executor heartbeat": "an executor was lost too often; look into its log",
    r"(the counts of partition \d+ came twice)": "{0}; run it again",
    r"cancelled|interrupted|CANCELED": "the job was cancelled",
}


def _said(error: BaseException) -> str:
    """What went wrong, in one line."""
    whole_text = str(error)
    for pattern, words in _CAUSES.items():
        if found := re.search(pattern, whole_text, re.IGNORECASE):
            return words.format(*found.groups())
    lines = [line.strip() for line in whole_text.splitlines() if line.strip()]
    raised = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b: ", line)]
    if raised and "Traceback" in whole_text:
        return raised[-1].rstrip(".;")
    # py4j puts a line about itself in front of Java's.
    if len(lines) > 1 and lines[0].startswith("An error occurred while calling"):
        lines[0] = re.sub(r"^: *([\w$]+\.)+", "", lines[1])
    return lines[0].rstrip(".;") if lines else type(error).__name__


def counting(data: Any, columns: Sequence[str], identifier: str) -> Counting | None:
    """How to count the data, if it is on a cluster."""
    if is_frame(data):
        data = Rows(data)
    if not isinstance(data, Rows):
        return None
    if not is_frame(data.frame):
        raise _residua.InputError(
            f"frame: expected a Spark DataFrame, found {type(data.frame).__module__}.{type(data.frame).__qualname__}"
        )
    return Counting(data, columns, identifier)


def refuse(data: Any) -> None:
    """Refuses a Spark DataFrame where rows must come to this machine."""
    if is_frame(data) or isinstance(data, Rows):
        raise _residua.InputError(
            "the data: the rows of a Spark DataFrame are measured on its cluster, and not read here; pass a sample, such as frame.limit(100_000).toPandas()"
        )


