"""Translation of text: one line for each line, for any text."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocketmt.engine import Translator, bundled_models
from pocketmt.engine.bundled import resolve_model
from pocketmt.engine.options import SearchOptions
from pocketmt.errors import EngineError, ModelFileError

TEXT = "the man rides a red bike in the house."


@pytest.fixture
def translator(model_path: Path) -> Translator:
    return Translator(model_path)


def test_one_line_out_for_each_line_in(translator: Translator) -> None:
    lines = [
        TEXT,
        "",
        "   \t",
        "\x00\x01\x1f",
        "two\x00dogs\x85",
        "\ud800 broken \udfff",
        "日本。" * 100,
        "\u2028",
        "x" * 9000,
    ]
    found = translator.translate(lines, max_length=30)
    assert len(found) == len(lines)
    assert [bool(line) for line in found[:4]] == [True, False, False, False]
    assert all(len(line.splitlines()) <= 1 for line in found)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text(st.characters(), max_size=80), max_size=5))
def test_any_text(translator: Translator, lines: list[str]) -> None:
    found = translator.translate(lines, beam_size=1, max_length=5)
    assert len(found) == len(lines)
    assert all(len(line.splitlines()) <= 1 for line in found)


def test_ten_thousand_words(translator: Translator) -> None:
    line = "the man rides a bike " * 2000
    [found] = translator.translate([line], beam_size=1, max_length=3)
    assert len(found.split(" ")) >= 50  # each of 50 segments has its own words


def test_n_best(translator: Translator) -> None:
    single, none, several = translator.translate_n_best([TEXT, "", f"{TEXT} " * 40], 3, max_length=10)
    assert len(single) == 3
    assert [each.score for each in single] == sorted((each.score for each in single), reverse=True)
    assert translator.translate([TEXT], max_length=10) == [single[0].text]
    assert [(each.text, each.score) for each in none] == [("", 0.0)]
    assert 1 <= len(several) <= 3


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("read_ahead", [1, 2, 3, 7, 512])
def test_stream_keeps_order_and_limits_reading_ahead(model_path: Path, workers: int, read_ahead: int) -> None:
    translator = Translator(model_path, workers=workers)
    lines = [f"{word} {number}" for number in range(6) for word in ("man", "", "a red bike")]
    read = 0

    def source() -> Iterator[str]:
        nonlocal read
        for line in lines:
            read += 1
            yield line

    found = []
    for index, translation in enumerate(translator.translate_stream(source(), read_ahead=read_ahead, beam_size=2)):
        assert read - index <= read_ahead
        found.append(translation)
    assert found == translator.translate(lines, beam_size=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_chunks_are_answered_before_reading_on_after_an_empty_one(model_path: Path, workers: int) -> None:
    translator = Translator(model_path, workers=workers)
    given = [["the man"], ["", "a dog", "two"], [], [], ["a red bike"], [], ["the house"], ["an old book"]]
    answered: list[list[str]] = []
    answered_before: list[int] = []

    def source() -> Iterator[list[str]]:
        for chunk in given:
            answered_before.append(len(answered))
            yield chunk

    for chunk in translator.translate_chunks(source(), beam_size=2):
        answered.append(chunk)
    assert answered == [translator.translate(chunk, beam_size=2) for chunk in given if chunk]
    assert answered_before == [0, 0, 1, 2, 2, 2, 3, 3]
    with pytest.raises(EngineError, match="beam_size"):
        translator.translate_chunks([], beam_size=0)


def computing() -> bool:
    """Whether other threads of this process compute while this one waits."""
    before = time.process_time()
    time.sleep(0.1)
    return time.process_time() - before > 0.005


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition becomes true within some seconds."""
    deadline = time.monotonic() + 20
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def threads() -> set[str]:
    return {task.name for task in Path("/proc/self/task").iterdir()}


def test_a_stream_may_be_abandoned(model_path: Path) -> None:
    before = threads()
    translator = Translator(model_path, workers=2)
    lines = [TEXT, "a dog"] * 8
    expected = translator.translate(lines)
    stream = translator.translate_stream(["", *[TEXT] * 500], read_ahead=2, min_length=10**6, max_length=10**6)
    assert next(stream) == ""
    assert eventually(computing)  # on the line that was read ahead, which would take hours
    del stream
    assert eventually(lambda: not computing())
    assert translator.translate(lines) == expected
    assert threads() - before
    del translator
    assert eventually(lambda: not threads() - before)


def test_several_threads_share_a_translator(model_path: Path) -> None:
    translator = Translator(model_path, workers=2)
    lines = [f"the man {number}" for number in range(40)]
    expected = translator.translate(lines)
    found: dict[int, list[str]] = {}
    threads = [
        threading.Thread(target=lambda index=index: found.update({index: translator.translate(lines)}))
        for index in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [expected] * 5


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="on one core, every thread is pinned")
def test_pinned_workers_have_a_core_each_only_while_they_compute(model_path: Path) -> None:
    cores = os.sched_getaffinity(0)
    translator = Translator(model_path, workers=2, pin_workers=True)
    expected = translator.translate([TEXT] * 3, max_length=30)
    seen: set[frozenset[int]] = set()
    after: list[set[int]] = []

    def translate() -> None:
        for _ in range(30):
            assert translator.translate([TEXT] * 64, max_length=30)[:3] == expected
        after.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=translate)
    thread.start()
    while thread.is_alive():
        for task in Path("/proc/self/task").iterdir():
            with suppress(ProcessLookupError):  # a thread that has just ended
                seen.add(frozenset(os.sched_getaffinity(int(task.name))))
    thread.join()
    assert after == [cores]
    pinned = {each for each in seen if len(each) == 1}
    assert pinned
    assert pinned <= {frozenset({core}) for core in sorted(cores)[:2]}


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """Ctrl-C after some seconds.

    Python ignores exceptions in callbacks of the garbage collector, which hypothesis has: a KeyboardInterrupt that is
    raised there would be lost, and the test would go on for hours. So nothing is collected.
    """
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    gc.disable()
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            yield
    finally:
        gc.enable()
        timer.join()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("sources", [1, 500])
def test_ctrl_c_ends_a_long_translation(model_path: Path, workers: int, sources: int) -> None:
    translator = Translator(model_path, workers=workers)
    with interrupted(0.3):  # or it would take hours
        translator.translate_ids([[5, 6, 7]] * sources, min_length=10**6, max_length=10**6)
    assert translator.translate([TEXT])


def ticks() -> dict[str, int]:
    """Processor time of each thread of this process, in ticks of the clock."""
    fields = {
        task.name: (task / "stat").read_text().rpartition(")")[2].split() for task in Path("/proc/self/task").iterdir()
    }
    return {name: int(each[11]) + int(each[12]) for name, each in fields.items()}


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processor time of threads")
@pytest.mark.parametrize("chunks", [1, 3])
def test_lines_that_are_not_parallel_have_one_worker(model_path: Path, chunks: int) -> None:
    translator = Translator(model_path, workers=3)
    options: SearchOptions = {"min_length": 10**6, "max_length": 10**6, "batch_size": 1, "parallel": False}
    before = ticks()
    with interrupted(0.6):
        list(translator.translate_chunks([[TEXT] * 4] * chunks, **options))
    used = sorted(time - before.get(thread, 0) for thread, time in ticks().items())
    assert used[-2] < used[-1] / 3


SIGNAL_HANDLER = """
import signal
from pocketmt.engine import Translator
from pocketmt.errors import EngineError

one, other = (Translator({model!r}, workers={workers}) for _ in range(2))

def handle(number, frame):
    print(other.translate(["the man"], max_length=5) == expected)
    one.translate(["the man"])

expected = one.translate(["the man"], max_length=5)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    {call}
except EngineError as error:
    print(error)
print(one.translate(["the man"], max_length=5) == expected)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no timers that send signals")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "call", ["one.translate_ids([[5, 6, 7]], min_length=10**6, max_length=10**6)", "one.logits([5], [6] * 10**5)"]
)
def test_a_signal_handler_cannot_wait_for_the_worker_of_its_thread(model_path: Path, call: str, workers: int) -> None:
    program = SIGNAL_HANDLER.format(model=str(model_path), workers=workers, call=call)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    message = "a signal handler cannot translate while the thread that it interrupts does"
    assert ended.stdout.splitlines() == ["True", message, "True"]


def test_arguments_out_of_range_are_refused(translator: Translator, model_path: Path) -> None:
    impossible: list[SearchOptions] = [
        {"beam_size": 0},
        {"beam_size": 10**6},
        {"max_length": 0},
        {"min_length": -1},
        {"max_length": 2**70},
    ]
    for options in impossible:
        with pytest.raises(EngineError, match=next(iter(options))):
            translator.translate([TEXT], **options)
    with pytest.raises(EngineError, match="length_penalty"):
        translator.translate([TEXT], length_penalty=float("nan"))
    with pytest.raises(EngineError, match="n_best"):
        translator.translate_n_best([TEXT], 5, beam_size=4)
    with pytest.raises(TypeError, match="beamsize"):
        translator.translate([TEXT], beamsize=4)  # type: ignore[call-arg]
    with pytest.raises(EngineError, match="120"):
        translator.translate_ids([[5, 120]])
    with pytest.raises(EngineError, match=r"it has: .*portable"):
        Translator(model_path, instruction_set="sse9")
    for argument in ("workers", "longest_segment"):
        with pytest.raises(EngineError, match=argument):
            Translator(model_path, **{argument: 0})  # type: ignore[arg-type]


def test_a_wrong_name_is_reported_with_the_bundled_ones(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such file") as raised:
        Translator(tmp_path / "nowhere.pocketmt")
    assert all(name in str(raised.value) for name in bundled_models())


def test_a_data_package_adds_its_model_by_name(
    model_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages" / "pocketmt_models"
    folder.mkdir(parents=True)
    for name in ("of-a-package", "everyday-en-de"):
        shutil.copy(model_path, folder / f"{name}.pocketmt")
    own = bundled_models()["everyday-en-de"]
    monkeypatch.syspath_prepend(folder.parent)
    assert bundled_models()["of-a-package"] == folder / "of-a-package.pocketmt"
    assert bundled_models()["everyday-en-de"] == own
    assert Translator("of-a-package").encode("a b") == Translator(model_path).encode("a b")


def test_a_name_is_the_bundled_model_even_if_a_file_has_it(
    model_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, other = "everyday-en-de", Path("everyday-en-de")
    bundled = bundled_models()[name]
    monkeypatch.chdir(tmp_path)
    assert resolve_model(name) == resolve_model(other) == bundled
    shutil.copy(model_path, name)
    assert resolve_model(name) == bundled
    for path in (other, f"./{name}", tmp_path / name):
        assert resolve_model(path) == Path(path)
    assert Translator(f"./{name}").encode("a b") == Translator(model_path).encode("a b")


def test_a_folder_that_cannot_be_read_has_no_models(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bundled_models()
    monkeypatch.setattr(sys, "path", ["x" * 300, *sys.path])  # No file system has such names.
    assert bundled_models() == before
    with pytest.raises(ModelFileError, match="no such file, and no bundled model"):
        Translator("nowhere")


def test_logits_shape(translator: Translator) -> None:
    logits = translator.logits([5, 6], [7, 8, 9])
    assert [len(row) for row in logits] == [120] * 4


def test_importing_the_engine_needs_no_pytorch() -> None:
    """Nor SentencePiece: it is imported while a model's weights are loaded."""
    modules = {"torch", "numpy", "msgspec", "rich", "sentencepiece"}
    program = f"import sys, pocketmt.engine; print({modules} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_the_first_error_is_the_one_that_is_raised(model_path: Path) -> None:
    translator = Translator(model_path, workers=2)
    for _ in range(5):
        with interrupted(0.1):
            list(translator.translate_stream([TEXT] * 5000, min_length=10**6, max_length=10**6))
