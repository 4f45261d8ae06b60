"""A Ray cluster of two nodes on this machine writes what one process writes, also when workers and nodes are lost."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from pocketmt.cli.main import run
from pocketmt.cli.search import SearchChoices
from pocketmt.distributed.blocks import Work
from pocketmt.distributed.bulk import run_to_shards
from pocketmt.distributed.ray_pool import Cluster, RayPool, connect
from pocketmt.distributed.shards import Shards
from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ClusterError
from pocketmt.text import cross_entropy_filter, several_processes
from tests.cli.conftest import command_line

from .texts import joined, lines, write_text
from .works import NamesGpu, SlowUpper, SlowUpperOnNodes, TranslationWithFullDisk

LINES = lines(1200)
PATIENCE = 60.0


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return write_text(tmp_path / "text.en", len(LINES))


def work_on(
    two_nodes: Any,
    work: Work,
    rows: Iterable[tuple[str]],
    output: Path,
    warnings: list[str] | None = None,
    cluster: Cluster | None = None,
) -> Shards:
    return run_to_shards(
        cluster or Cluster(two_nodes.address),
        work,
        rows,
        str(output),
        {},
        lines=1,
        warn=(warnings if warnings is not None else []).append,
        progress=lambda lines: None,
    )


def test_two_nodes_write_the_bytes_of_one_process(two_nodes: Any, model: Path, text: Path, tmp_path: Path) -> None:
    options = ["translate", "--model", str(model), "--input", str(text), "--beam-size", "2"]
    assert run([*options, "--output", str(tmp_path / "one.de")]) == 0
    cluster = ["--ray", two_nodes.address, "--block-lines", "100"]
    assert run([*options, *cluster, "--output", str(tmp_path / "shards")]) == 0
    assert joined(tmp_path / "shards") == (tmp_path / "one.de").read_bytes()
    assert len(list((tmp_path / "shards").glob("*.txt"))) == 12


def test_a_corrupt_shard_is_named_and_made_again(two_nodes: Any, tmp_path: Path) -> None:
    rows = [(f"line {number}",) for number in range(6)]
    out = tmp_path / "out"
    work_on(two_nodes, SlowUpper(0.0, tmp_path), rows, out)
    whole = joined(out)
    times = {shard.name: shard.stat().st_mtime_ns for shard in out.glob("*.txt")}
    (out / "000002.txt").write_bytes(b"LINE 7\n")
    (out / "000004.txt").unlink()
    warnings: list[str] = []
    work_on(two_nodes, SlowUpper(0.0, tmp_path), rows, out, warnings)
    assert joined(out) == whole
    changed = [name for name, time in times.items() if (out / name).stat().st_mtime_ns != time]
    assert sorted(changed) == ["000002.txt", "000004.txt"]
    assert [any(name in warning for warning in warnings) for name in sorted(changed)] == [True, True]


def test_scores_and_json_are_written_as_by_one_process_also_from_an_address(
    two_nodes: Any, model: Path, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text.write_text("".join(f"{line}\n" for line in LINES[:60]))
    options = ["translate", "--model", str(model), "--n-best", "2", "--json"]
    assert run([*options, "--input", str(text), "--output", str(tmp_path / "one.json")]) == 0
    capsys.readouterr()
    cluster = ["--ray", two_nodes.address, "--block-lines", "25"]
    shards = f"file://{tmp_path}/shards"
    assert run([*options, *cluster, "--input", f"file://{text}", "--output", shards]) == 0
    assert joined(tmp_path / "shards") == (tmp_path / "one.json").read_bytes()
    shown = [line.partition(", line ")[2] for line in capsys.readouterr().err.splitlines() if ", line " in line]
    assert len(set(shown)) == len(shown) == 10  # Of blocks that finish in any order.


def test_workers_that_are_killed_again_and_again_change_nothing(two_nodes: Any, tmp_path: Path) -> None:
    processes = tmp_path / "processes"
    processes.mkdir()
    rows = [(f"line {number}",) for number in range(40)]
    ended = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while not ended.wait(1.5):
            for process in processes.iterdir():
                process.unlink()
                with suppress(ProcessLookupError):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
                break

    killer = threading.Thread(target=kill)
    killer.start()
    warnings: list[str] = []
    try:
        shards = work_on(two_nodes, SlowUpper(0.15, processes), rows, tmp_path / "out", warnings)
    finally:
        ended.set()
        killer.join()
    assert b"".join(shards.contents()) == b"".join(f"LINE {number}\n".encode() for number in range(40))
    assert len(killed) >= 2
    assert any("was lost" in warning for warning in warnings)


def first_node(two_nodes: Any) -> str:
    """Return the identifier of the node that a driver connects to."""
    import ray

    connect(Cluster(two_nodes.address))
    return str(ray.get_runtime_context().get_node_id())


def test_a_node_with_a_full_disk_is_left_out_and_costs_no_block(two_nodes: Any, tmp_path: Path) -> None:
    full = first_node(two_nodes)
    warnings: list[str] = []
    deadline = time.monotonic() + PATIENCE
    read = 0

    def rows() -> Iterator[tuple[str]]:
        # Starts of workers take time on a busy machine: the text ends after the third of them has failed.
        nonlocal read
        while not warnings and time.monotonic() < deadline:
            yield (f"line {read}",)
            read += 1

    shards = work_on(two_nodes, SlowUpper(0.1, tmp_path, full_node=full), rows(), tmp_path / "out", warnings)
    assert len(warnings) == 1
    assert "is not used any more: /tmp/model: No space" in warnings[0]
    assert b"".join(shards.contents()) == b"".join(f"LINE {number}\n".encode() for number in range(read))


def test_a_node_without_room_for_the_model_is_named_with_the_file(
    two_nodes: Any, small_disk: Path, tmp_path: Path
) -> None:
    full = first_node(two_nodes)
    warnings: list[str] = []
    choices = {"longest_sentence": 1000, "device": "cpu", "precision": None, "instruction_set": None}
    search = SearchChoices({"beam_size": 1}, 1, scores=False, alignment=False, as_json=False, token_scores=False)
    model = resolve_model("captions-en-de")
    work = TranslationWithFullDisk([model.read_bytes()], search, choices, False, full_node=full, disk=str(small_disk))
    deadline = time.monotonic() + PATIENCE
    read: list[str] = []

    def rows() -> Iterator[tuple[str]]:
        while not warnings and time.monotonic() < deadline:
            read.append(LINES[len(read) % len(LINES)])
            yield (read[-1],)
            time.sleep(0.05)

    shards = work_on(two_nodes, work, rows(), tmp_path / "out", warnings)
    (warning,) = warnings
    assert re.match(
        rf"node \S+ {full[:6]} is not used any more: {small_disk}/pocketmt-\w+/model1\.pocketmt: No space left on "
        "device; its 0 unfinished blocks go to other workers$",
        warning,
    )
    assert list(small_disk.iterdir()) == []
    expected = Translator(model).translate(read, beam_size=1, check=False)
    assert b"".join(shards.contents()).decode().splitlines() == expected


def test_a_line_that_cannot_be_handled_is_named(two_nodes: Any, tmp_path: Path) -> None:
    rows = [("good",), ("bad",), ("good",)]
    with pytest.raises(ClusterError, match="lines 2 to 2: ValueError: a bad line"):
        work_on(two_nodes, SlowUpper(0.0, tmp_path), rows, tmp_path / "out")


def test_a_full_disk_is_named_and_the_run_resumes(
    two_nodes: Any, model: Path, text: Path, small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(450_000))
    command = ["translate", "--model", str(model), "--input", str(text), "--output", str(small_disk / "out")]
    command += ["--ray", two_nodes.address, "--block-lines", "50", "--beam-size", "1"]
    assert run(command) == 1
    error = capsys.readouterr().err
    assert f"{small_disk}/out/" in error
    assert "the disk is full" in error
    filler.unlink()
    assert run(command) == 0
    assert len(joined(small_disk / "out").splitlines()) == len(LINES)


def test_cleaning_and_distilling_on_a_cluster_write_what_one_process_writes(
    two_nodes: Any, model: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Cross-entropies are computed by forks of this process, which has been connected to the cluster.
    monkeypatch.setattr(several_processes, "available_cores", lambda: 2)
    monkeypatch.setattr(cross_entropy_filter, "LINES_AT_ONCE", 50)
    target = tmp_path / "text.de"
    target.write_text("".join(f"ein Satz {number % 400}\n" for number in range(len(LINES))))
    for folder, options in (("one", []), ("two", ["--ray", two_nodes.address])):
        (tmp_path / folder).mkdir()
        clean = [str(tmp_path / folder / name) for name in ("clean.en", "clean.de")]
        blocks = ["--block-lines", "100"] if options else []
        assert run(["clean", str(text), str(target), "-o", *clean, *options, *blocks]) == 0
        distilled = [str(tmp_path / folder / name) for name in ("distilled.en", "distilled.de")]
        assert run(["distill", str(model), "--text", str(text), "-b", "1", "-o", *distilled, *options]) == 0
    for name in ("clean.en", "clean.de", "distilled.en", "distilled.de"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert 0 < len((tmp_path / "one" / "clean.en").read_bytes().splitlines()) < len(LINES)
    assert not (tmp_path / "two" / "clean.en.cleaning").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ray", "local"], "--ray needs --output FOLDER"),
        (["--ray", "local", "--format", "tsv", "--output", "x"], "--ray needs --format text"),
        (["--block-lines", "5"], "--block-lines needs --ray"),
        (["--output", "s3://bucket/x"], "needs --ray: name a file"),
    ],
)
def test_options_that_do_not_go_together(
    options: list[str], message: str, text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["translate", "--input", str(text), *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_without_ray_the_error_says_what_to_install(model: Path, text: Path, tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ModuleNotFoundError(\"No module named 'ray'\", name='ray')\n")
    command = command_line("translate", "-m", model, "-i", text, "-o", tmp_path / "out", "--ray", "local")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert answer.returncode == 1
    assert answer.stderr == "error: this command needs the package ray: pip install 'pocketmt[ray]'\n"


def test_a_cluster_that_cannot_be_reached_is_named(model: Path, text: Path, tmp_path: Path) -> None:
    command = command_line("translate", "-m", model, "-i", text, "-o", tmp_path / "out", "--ray", "nowhere")
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert answer.returncode == 1
    assert "error: nowhere: no Ray cluster can be reached" in answer.stderr


def test_a_lost_node_costs_its_unfinished_blocks_alone(two_nodes: Any, tmp_path: Path) -> None:
    node = two_nodes.add_node(num_cpus=1)
    out = tmp_path / "out"
    rows = [(f"line {number}",) for number in range(150)]

    def remove() -> None:
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / node.node_id).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        two_nodes.remove_node(node, allow_graceful=False)

    remover = threading.Thread(target=remove)
    remover.start()
    warnings: list[str] = []
    shards = work_on(two_nodes, SlowUpperOnNodes(0.15, tmp_path), rows, out, warnings)
    remover.join()
    assert b"".join(shards.contents()) == b"".join(f"LINE {number}\n".encode() for number in range(150))
    assert ["its 2 unfinished blocks go to other workers" in warning for warning in warnings] == [True]


@pytest.mark.parametrize(
    ("cluster", "message"),
    [(Cluster(threads=1, gpus=64.0), "64 GPU.*--device cuda"), (Cluster(threads=4096), "4096 cores.*--workers")],
)
def test_what_this_machine_lacks_is_named_at_once(two_nodes: Any, cluster: Cluster, message: str) -> None:
    connect(Cluster(two_nodes.address))
    with closing(RayPool(cluster, NamesGpu())) as pool, pytest.raises(ClusterError, match=message):
        pool.wait()


def test_a_connection_is_ended_with_low_priority(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("import os\ndef shutdown(): print(os.getpriority(os.PRIO_PROCESS, 0))\n")
    program = "from pocketmt.distributed.ray_pool import disconnect; disconnect()"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert answer.stdout == "19\n"


def have_variable(name: str, value: str) -> list[str]:
    """Return the processes that have a variable of the environment."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # Another one's process, or it has ended.
            found += [file.parent.name] if f"{name}={value}".encode() in file.read_bytes().split(b"\0") else []
    return found


def test_a_cluster_that_a_command_starts_ends_with_it(model: Path, text: Path, tmp_path: Path) -> None:
    command = command_line("translate", "-m", model, "-b", "1", "-i", text, "-o", tmp_path / "out", "--ray", "local")
    environment = {**os.environ, "STARTED_FOR": str(tmp_path)}
    answer = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert answer.returncode == 0, answer.stderr
    assert len(joined(tmp_path / "out").splitlines()) == len(LINES)
    deadline = time.monotonic() + PATIENCE
    while left := have_variable("STARTED_FOR", str(tmp_path)):
        assert time.monotonic() < deadline, [Path(f"/proc/{each}/cmdline").read_bytes() for each in left]
        time.sleep(0.1)


def test_a_process_stays_connected_to_one_cluster(two_nodes: Any) -> None:
    connect(Cluster(two_nodes.address))
    connect(Cluster("auto"))
    with pytest.raises(ClusterError, match=f"nowhere: this process is connected to {two_nodes.address}"):
        connect(Cluster("nowhere"))


def alive(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def test_a_pool_that_is_closed_has_ended_its_workers(two_nodes: Any, tmp_path: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    cluster = Cluster(two_nodes.address)
    connect(cluster)
    with closing(RayPool(cluster, SlowUpper(0.0, tmp_path))) as pool:
        while len(processes := [int(path.name) for path in tmp_path.iterdir()]) < 2:
            assert time.monotonic() < deadline
            pool.wait()
        assert all(map(alive, processes))
    while any(map(alive, processes)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_each_worker_on_a_gpu_has_one_of_its_own(two_nodes: Any, tmp_path: Path) -> None:
    """Two GPUs that Ray is told of; PyTorch does not look for them."""
    node = two_nodes.add_node(num_cpus=3, num_gpus=2)
    cluster = Cluster(two_nodes.address, threads=1, gpus=1.0)
    try:
        rows = [(f"line {number}",) for number in range(60)]
        shards = work_on(two_nodes, NamesGpu(), rows, tmp_path / "out", cluster=cluster)
    finally:
        two_nodes.remove_node(node)
    seen = {line.decode().split()[0]: line.decode().split()[1] for line in shards.contents()}
    assert sorted(seen.values()) == ["0", "1"]
