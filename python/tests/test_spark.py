"""Rows on Spark: in this process, on a cluster of two workers that the test starts, and through Spark Connect. The counts
are those of one machine, whatever dies on the way."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from test_data import counts

import residua as rs
import residua.spark

pyspark = pytest.importorskip("pyspark", reason="Spark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java (Debian's openjdk-17-jre-headless)", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

LOOPBACK = "127.0.0.1"
ROWS = 6000


@pytest.fixture(scope="module", autouse=True)
def loopback():
    """Everything that Spark opens is on this machine's loopback address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", LOOPBACK)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        # Executors have residua, and not this file.
        pyspark.cloudpickle.register_pickle_by_value(sys.modules[__name__])
        patch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))
        yield


def start(master, folder, **settings):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", LOOPBACK).config("spark.log.level", "OFF")
    builder = builder.config("spark.local.dir", str(folder)).config("spark.ui.showConsoleProgress", "false")
    for name, setting in settings.items():
        builder = builder.config(name.replace("_", "."), setting)
    return builder.getOrCreate()


@pytest.fixture(scope="class")
def local(tmp_path_factory):
    session = start("local[2,4]", tmp_path_factory.mktemp("local"), spark_sql_shuffle_partitions="3")
    yield session
    session.stop()


def free_port():
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        return taken.getsockname()[1]


@pytest.fixture(scope="class")
def cluster(tmp_path_factory):
    """A master and two workers with one core each, at two addresses: tasks that take long are run twice, and Spark runs
    the second copy on another host only."""
    folder = tmp_path_factory.mktemp("cluster")
    program = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    port = free_port()
    url = f"spark://{LOOPBACK}:{port}"
    environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_DIRS": str(folder)}
    log = open(folder / "log", "w")
    processes = []

    def run(role, host, *arguments):
        daemon = [program, f"org.apache.spark.deploy.{role}", "--host", host, "--webui-port", "0", *arguments]
        own = {**environment, "SPARK_LOCAL_IP": host}
        processes.append(subprocess.Popen(daemon, env=own, stdout=log, stderr=log))

    try:
        run("master.Master", LOOPBACK, "--port", str(port))
        wait_for(port)
        for host in (LOOPBACK, "127.0.0.2"):
            run("worker.Worker", host, "--cores", "1", "--memory", "700m", "--work-dir", str(folder / host), url)
        session = start(
            url, folder, spark_executor_memory="512m", spark_executor_cores="1",
            spark_sql_shuffle_partitions="2", spark_speculation="true", spark_speculation_multiplier="1.1",
            spark_speculation_interval="100ms", spark_speculation_quantile="0.5",
            spark_speculation_minTaskRuntime="500ms",
        )
        yield session
        session.stop()
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(60)
        log.close()


def wait_for(port):
    for _ in range(600):
        with socket.socket() as tried:
            if tried.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the cluster does not answer")


def made_rows():
    """Rows whose counts differ from cell to cell; each identifier has six, far from each other."""
    k = np.arange(ROWS)
    return pd.DataFrame({"who": k % 1000, "age": k * k % 10, "sex": np.where(k % 3, "f", "m"), "k": k})


def domain_of_rows():
    return rs.Domain(age=rs.integers(0, 9), sex=["f", "m"])


def on(session, partitions=5, frame=None):
    table = pa.Table.from_pandas(made_rows() if frame is None else frame, preserve_index=False)
    return session.createDataFrame(table).repartition(partitions)


def truth():
    rows = made_rows()
    return pd.crosstab(rows.age, rows.sex).reindex(range(10), fill_value=0).to_numpy().tolist()


def counted(frame, ledger="spark.ledger"):
    return counts(domain_of_rows(), frame, ledger).tolist()


def faulty(frame, fault):
    """The same rows, passed through `fault(partition, attempt)` in each task before they are counted. `attempts` lists
    the tasks that were begun. Attempts are counted here: Spark's own numbers begin anew when it runs a stage again, and a
    fault that is meant to come once would come every time."""
    marks = Path("attempts").absolute()
    marks.mkdir(exist_ok=True)

    def begin(partition):
        for attempt in itertools.count():
            try:
                (marks / f"{partition}, {attempt}").touch(exist_ok=False)
                return attempt
            except FileExistsError:
                pass

    def pass_on(batches):
        from pyspark import TaskContext

        partition = TaskContext.get().partitionId()
        for number, batch in enumerate(batches):
            if number == 0:
                fault(partition, begin(partition))
            yield batch

    return frame.mapInArrow(pass_on, frame.schema)


def attempts():
    return {tuple(map(int, mark.name.split(", "))) for mark in Path("attempts").iterdir()}


def kill_worker(partition, attempt):
    if partition == 1 and attempt == 0:
        os.kill(os.getpid(), 9)


def kill_every_worker(partition, attempt):
    os.kill(os.getpid(), 9)


def kill_executor(partition, attempt):
    """The Java process of the executor, when some of its tasks have ended: their output is lost too."""
    if partition == 4 and attempt == 0:
        import psutil

        for parent in psutil.Process().parents():
            if parent.name() == "java":
                time.sleep(1)
                parent.kill()
                break


def sleep_once(partition, attempt):
    if partition == 2 and attempt == 0:
        time.sleep(8)


class TestLocal:
    def test_counts_are_those_of_one_machine(self, local):
        assert counted(on(local)) == truth()
        assert counted(residua.spark.Rows(on(local), partitions=1), "one.ledger") == truth()
        assert counted(on(local, 1), "single.ledger") == truth()

    def test_many_pieces(self, local):
        rows = pd.DataFrame({"x": np.arange(ROWS) % 97, "y": np.arange(ROWS) % 89})
        domain = rs.Domain(x=rs.integers(0, 99), y=rs.integers(0, 99))
        plan = rs.plan(domain, marginals="<=2", pcost=80)
        assert residua.spark.size(plan).pieces > 2
        release = plan.measure(on(local, frame=rows), ledger="spark.ledger")
        expected = np.histogram2d(rows.x, rows.y, bins=[range(101), range(101)])[0]
        assert abs(release.estimates("x", "y") - expected).max() < 1.5
        assert abs(release.estimates() - ROWS).max() < 1.5

    def test_sums_and_means(self, local):
        rows = made_rows()
        domain = rs.Domain(sex=["f", "m"], k=rs.integers(0, ROWS - 1, queries="mean"))
        plan = rs.plan(domain, marginals="<=2", rho=20)
        table = plan.measure(on(local), ledger="spark.ledger").table("sex", "k").set_index("sex")
        for sex, of_sex in rows.groupby("sex"):
            row = table.loc[sex]
            assert abs(row["estimate"] - len(of_sex)) < 6 * row["std_dev"]
            assert abs(row["sum"] - of_sex.k.sum()) < 6 * row["sum_std_dev"]
            assert abs(row["mean"] - of_sex.k.mean()) < 6 * row["mean_std_dev"]

    def test_no_rows(self, local):
        assert not np.any(counted(on(local).where("age > 99")))

    def test_types(self, local):
        frame = local.sql(
            "SELECT DATE'2024-02-29' AS day, TIMESTAMP_NTZ'2024-02-29 23:00:00' AS moment, CAST(1.5 AS DECIMAL(9, 2)) AS cost, "
            "true AS is_ill, CAST(NULL AS STRING) AS name FROM range(7)"
        )
        domain = rs.Domain(
            day=rs.dates("2024-01-01", "2024-03-31", every="month"), moment=rs.part("hour"), cost=rs.cuts(1, 2),
            is_ill=["true", "false"], name=rs.values("a", null=True),
        )
        release = rs.plan(domain, marginals="<=1", pcost=80).measure(frame, ledger="t.ledger")
        for name, cell in (("day", 1), ("moment", 23), ("cost", 1), ("is_ill", 0), ("name", 1)):
            assert release.estimates(name)[cell] == pytest.approx(7, abs=2)

    def test_any_column_name(self, local):
        name = "a.b `c` d"
        frame = on(local, frame=made_rows().rename(columns={"age": name}))
        domain = rs.Domain({name: rs.integers(0, 9), "sex": ["f", "m"]})
        assert counts(domain, frame, "names.ledger").tolist() == truth()

    def test_at_most_max_rows_of_each_identifier(self, local):
        rows = made_rows().assign(age=lambda rows: rows.k // 1000)  # each identifier has every age below 6
        domain = rs.Domain(age=rs.integers(0, 9))
        plan = rs.plan(domain, marginals="<=1", pcost=80, identifier="who", max_rows=2)
        release = plan.measure(faulty(on(local, frame=rows), kill_worker), ledger="who.ledger")
        assert release.estimates().item() == pytest.approx(2000, abs=3)
        kept = release.estimates("age")
        assert abs(kept[:6] - 2000 / 6).max() < 100, "chosen with equal probability"
        assert abs(kept[6:]).max() < 3
        assert any("beyond max_rows: 4000" in note for note in release.notes)

    def test_what_was_left_out_is_noted(self, local):
        domain = rs.Domain(age=rs.integers(0, 4, outside="clamp"), sex=rs.values("f", "x", outside="drop"))
        plan = rs.plan(domain, marginals="<=2", rho=1)
        notes = plan.measure(on(local), ledger="spark.ledger").notes
        assert notes == plan.measure(made_rows(), ledger="pandas.ledger").notes != []
        nobody = rs.plan(rs.Domain(sex=rs.values("x", "y", outside="drop")), marginals=1, rho=1)
        with pytest.raises(rs.Refused, match="the data: column 'sex' leaves out 6000 of 6000 rows"):
            nobody.measure(on(local), ledger="nobody.ledger")
        assert not Path("nobody.ledger").exists()

    @pytest.mark.parametrize(
        "domain, message",
        [
            (rs.Domain(sex=["f", "x"]), "the data, partition 0: column 'sex' has the value 'm' \\(row \\d+\\), not among its values; set"),
            (rs.Domain(height=["f", "m"]), "the data: no column 'height'; it has who, age, sex, k: rename or remove"),
            (rs.Domain(Sex=["f", "m"]), "the data: no column 'Sex', but a column 'sex'"),
        ],
    )
    def test_bad_rows_are_one_line_and_cost_nothing(self, local, domain, message):
        with pytest.raises(rs.InputError, match=message) as raised:
            rs.plan(domain, marginals=1, rho=1).measure(on(local, 2), ledger="bad.ledger")
        assert "\n" not in str(raised.value)
        assert not Path("bad.ledger").exists()

    def test_a_failing_frame_is_one_line(self, local):
        frame = on(local).selectExpr("age", "raise_error('the disk is full') AS sex")
        with pytest.raises(rs.Error, match="^Spark: .*the disk is full.*; nothing was spent$") as raised:
            counted(frame, "fails.ledger")
        assert "\n" not in str(raised.value)
        assert not Path("fails.ledger").exists()

    def test_a_killed_python_worker_is_replaced(self, local):
        assert counted(faulty(on(local), kill_worker)) == truth()
        assert (1, 1) in attempts()

    def test_workers_that_always_die_are_one_line(self, local):
        with pytest.raises(rs.Error, match="^Spark: a Python worker died, .*; nothing was spent$"):
            counted(faulty(on(local, 2), kill_every_worker), "dead.ledger")
        assert not Path("dead.ledger").exists()

    def test_what_is_refused_before_the_job(self, local):
        plan = rs.plan(domain_of_rows(), marginals=1, rho=1)
        refusing = faulty(on(local), kill_every_worker)
        with pytest.raises(rs.InputError, match="rows on a cluster have no ledger beside them; name"):
            plan.measure(refusing)
        with pytest.raises(rs.InputError, match="the counters of all tables take .* in every task, and .* may be used; allow more"):
            plan.measure(residua.spark.Rows(refusing, task_memory=40), ledger="small.ledger")
        rs.Ledger.create("poor.ledger", rho=0.5, reason="a small budget")
        with pytest.raises(rs.Refused, match="poor.ledger"):
            plan.measure(refusing, ledger="poor.ledger")
        for call in (plan.check, rs.init):
            with pytest.raises(rs.InputError, match="pass a sample, such as frame.limit"):
                call(refusing)
        for wrong in ({"partitions": -1}, {"partitions": 1.5}, {"task_memory": 0}, {"task_memory": "1g"}):
            with pytest.raises(rs.InputError, match=next(iter(wrong))):
                residua.spark.Rows(refusing, **wrong)
        with pytest.raises(rs.InputError, match="frame: expected a Spark DataFrame, found pandas"):
            plan.measure(residua.spark.Rows(made_rows()), ledger="p.ledger")

    def test_stopping_cancels_the_job(self, local):
        def stop(phase, done, total):
            assert phase == "Reading"
            if time.monotonic() > begun + 2:
                raise KeyboardInterrupt

        def sleep(partition, attempt):
            time.sleep(60)

        begun = time.monotonic()
        plan = rs.plan(domain_of_rows(), marginals=1, rho=1)
        with pytest.raises(KeyboardInterrupt):
            plan.measure(faulty(on(local), sleep), ledger="stopped.ledger", progress=stop)
        assert time.monotonic() < begun + 40
        assert not Path("stopped.ledger").exists()

    def test_a_whole_release(self, local):
        plan = rs.plan(domain_of_rows(), marginals="<=2", pcost=80)
        release = plan.release(on(local), "published", ledger="r.ledger", title="On Spark")
        assert abs(release.estimates("age", "sex") - np.array(truth())).max() < 2
        again = plan.release(faulty(on(local), kill_every_worker), "published", ledger="r.ledger")
        assert (again.estimates() == release.estimates()).all(), "read again, without the rows"


class TestCluster:
    def test_counts_are_those_of_one_machine(self, cluster):
        assert counted(on(cluster)) == truth()

    def test_speculative_tasks_count_once(self, cluster):
        rows = residua.spark.Rows(faulty(on(cluster), sleep_once), partitions=5)
        assert counted(rows) == truth()
        assert (2, 1) in attempts()

    def test_a_killed_executor_is_replaced(self, cluster):
        rows = residua.spark.Rows(faulty(on(cluster), kill_executor), partitions=5)
        assert counted(rows) == truth()
        assert (4, 1) in attempts()


CONNECTED = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, sys.argv[1])
from pyspark.sql import SparkSession
from test_spark import *

# Nothing of Spark listens to others.
builder = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "3")
session = builder.getOrCreate()
assert "connect" in type(on(session)).__module__
assert counted(on(session)) == truth()
try:
    rs.plan(rs.Domain(sex=["f", "x"]), marginals=1, rho=1).measure(on(session), ledger="bad.ledger")
except rs.InputError as error:
    print(error)
session.stop()
"""


def test_connect():
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio")
    done = subprocess.run(
        [sys.executable, "-c", CONNECTED, str(Path(__file__).parent)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "SPARK_LOCAL_IP": LOOPBACK},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("the data, partition 0: column 'sex' has the value 'm'")
