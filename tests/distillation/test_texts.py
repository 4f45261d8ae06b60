"""Synthetic text: parallel outputs, their record, resuming and errors."""

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import pocketmt.training.translations as translations
from pocketmt.distillation.teachers import Teachers
from pocketmt.distillation.texts import Text, distill
from pocketmt.engine import devices
from pocketmt.errors import ConfigurationError, DataError
from pocketmt.folder_lock import LockedError, locked
from pocketmt.packing.device import model as device_model
from pocketmt.packing.run import pack_run
from tests.compression.tiny_run import write_tiny_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Text]:
    monkeypatch.setattr(translations, "LINES", 2)
    monkeypatch.setattr(devices, "LINES_AT_ONCE", 2)
    (tmp_path / "a.en").write_text("red cat\n\nblue dog\n")
    (tmp_path / "b.en").write_text("tree\u2028house\ngreen bird\r\n", newline="")
    return [Text(tmp_path / "a.en"), Text(tmp_path / "b.en")]


READ = ["red cat", "", "blue dog", "tree\u2028house", "green bird"]


def teachers(run: Path, folder: Path, device: str = "auto") -> Teachers:
    return Teachers([str(run)], folder / "work", beam_size=2, workers=1, device=device)


def write(run: Path, folder: Path, texts: Sequence[Text], back: bool = False) -> tuple[list[str], list[str]]:
    distill(teachers(run, folder), texts, folder / "out.en", folder / "out.up", folder / "work", back_translation=back)
    source, target = (folder / name for name in ("out.en", "out.up"))
    return source.read_text().split("\n")[:-1], target.read_text().split("\n")[:-1]


def test_the_outputs_are_parallel(run: Path, texts: list[Text], tmp_path: Path) -> None:
    source, target = write(run, tmp_path, texts)
    assert source == READ
    assert target == teachers(run, tmp_path).translate(READ, None)
    assert target[1] == ""


def test_what_a_killed_process_has_left_unfinished_is_removed(run: Path, texts: list[Text], tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "other").touch()
    for name in ("work/.teacher.pocketmt", ".out.en", ".out.up", ".out.en.distillation.json", ".other"):
        (tmp_path / f"{name}.0a1b2c3d.unfinished").touch()
    write(run, tmp_path, texts)
    assert [path.name for path in tmp_path.rglob("*.unfinished")] == [".other.0a1b2c3d.unfinished"]


def test_an_error_before_the_first_translation_leaves_no_packed_teachers(
    run: Path, texts: list[Text], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = shutil.copytree(run, tmp_path / "second")
    both = Teachers([str(run), str(second)], tmp_path / "work", beam_size=2, workers=1, device="cpu")
    left = tmp_path / "work" / ".teacher1.pocketmt.0a1b2c3d.unfinished"
    left.parent.mkdir()
    left.touch()

    def stop(*_: object) -> list[str]:
        assert sorted(path.name for path in left.parent.glob("teacher*")) == ["teacher1.pocketmt", "teacher2.pocketmt"]
        raise KeyboardInterrupt

    both.load()
    monkeypatch.setattr(Teachers, "translate", stop)
    with pytest.raises(KeyboardInterrupt):
        distill(both, texts, tmp_path / "out.en", tmp_path / "out.up", tmp_path / "work")
    assert not [*left.parent.glob("*teacher*")]


def test_outputs_of_a_missing_folder_are_refused(run: Path, texts: list[Text], tmp_path: Path) -> None:
    outputs = tmp_path / "missing" / "out.en", tmp_path / "missing" / "out.up"
    with pytest.raises(ConfigurationError, match=r"folder .*missing does not exist"):
        distill(teachers(run, tmp_path), texts, *outputs, tmp_path / "missing" / "work")
    assert sorted(os.listdir(tmp_path)) == ["a.en", "b.en"]


def test_back_translations_are_the_source_side(run: Path, texts: list[Text], tmp_path: Path) -> None:
    source, target = write(run, tmp_path, texts, back=True)
    assert target == READ
    assert source == teachers(run, tmp_path).translate(READ, None)
    record = json.loads((tmp_path / "out.en.distillation.json").read_text())
    assert record["synthetic_side"] == "source"
    assert record["languages"] == {"source": "up", "target": "en"}


def test_the_target_side_of_a_parallel_format_is_translated_back(run: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("RED CAT\tred cat\nBLUE DOG\tblue dog\n")
    assert write(run, tmp_path, [Text(tmp_path / "pairs.tsv")], back=True)[1] == ["red cat", "blue dog"]


def test_the_record_names_all_texts_and_teachers(run: Path, texts: list[Text], tmp_path: Path) -> None:
    write(run, tmp_path, texts)
    record = json.loads((tmp_path / "out.en.distillation.json").read_text())
    assert [(text["path"], text["lines"]) for text in record["texts"]] == [
        (str(tmp_path / "a.en"), 3),
        (str(tmp_path / "b.en"), 2),
    ]
    assert record["teachers"] == [
        {"name": str(run), "sha256": hashlib.sha256((run / "model.safetensors").read_bytes()).hexdigest()}
    ]
    for side, name in (("source", "out.en"), ("target", "out.up")):
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert record[side] == {"path": str(tmp_path / name), "lines": 5, "sha256": digest}


def test_names_that_are_not_utf8_have_question_marks_in_the_record(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    pack_run(run, "uniform8", tmp_path / "model")
    os.rename(tmp_path / "model", folder / "model")
    (folder / "a.en").write_text("red cat\n")
    assert write(folder / "model", folder, [Text(folder / "a.en")])[0] == ["red cat"]
    record = json.loads((folder / "out.en.distillation.json").read_text())
    named = [record["teachers"][0]["name"], *(each["path"] for each in (*record["texts"], record["source"]))]
    assert named == [f"{tmp_path}/caf?/{name}" for name in ("model", "a.en", "out.en")]


@pytest.mark.parametrize("stopped", [0, 1, 2])
def test_an_interrupted_distillation_resumes_with_the_next_shard(
    run: Path, texts: list[Text], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: int
) -> None:
    translate, calls = Teachers.translate, 0

    def stopping(self: Teachers, lines: Sequence[str], references: Sequence[str] | None) -> list[str]:
        nonlocal calls
        calls += 1
        if calls == stopped + 1:
            raise KeyboardInterrupt
        return translate(self, lines, references)

    monkeypatch.setattr(Teachers, "translate", stopping)
    with pytest.raises(KeyboardInterrupt):
        write(run, tmp_path, texts)
    # No output is incomplete, and there is no work folder before the first shard.
    assert sorted(os.listdir(tmp_path)) == ["a.en", "b.en", *(["work"] if stopped else [])]
    source, target = write(run, tmp_path, texts)
    assert calls == 4
    assert (source, target) == (READ, teachers(run, tmp_path).translate(READ, None))


def test_the_decoder_for_gpus_takes_several_shards_at_once(
    run: Path, texts: list[Text], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translate = Teachers.translate
    written: dict[int, dict[str, bytes]] = {}
    calls: dict[int, list[int]] = {1: [], 4096: []}
    for lines_at_once, sizes in calls.items():

        def counting(
            self: Teachers,
            lines: Sequence[str],
            references: Sequence[str] | None,
            sizes: list[int] = sizes,
        ) -> list[str]:
            sizes.append(len(lines))
            return translate(self, lines, references)

        monkeypatch.setattr(Teachers, "translate", counting)
        monkeypatch.setattr(device_model, "LINES_AT_ONCE", lines_at_once)
        folder = tmp_path / str(lines_at_once)
        folder.mkdir()
        outputs = folder / "out.en", folder / "out.up"
        distill(teachers(run, folder, "torch-cpu"), texts, *outputs, folder / "work")
        files = [*outputs, *(folder / "work").glob("*/*.jsonl")]
        written[lines_at_once] = {str(file.relative_to(folder)): file.read_bytes() for file in files}
    assert calls == {1: [2, 1, 2], 4096: [3, 2]}
    assert written[1] == written[4096]
    assert len(written[1]) == 2 + 3


def test_a_locked_folder_is_refused(run: Path, texts: list[Text], tmp_path: Path) -> None:
    (tmp_path / ".out.en.0a1b2c3d.unfinished").touch()  # The other process is writing it.
    with locked(tmp_path / "work"), pytest.raises(LockedError, match="work: in use by process"):
        write(run, tmp_path, texts)
    assert sorted(os.listdir(tmp_path)) == [".out.en.0a1b2c3d.unfinished", "a.en", "b.en"]


def test_a_changed_text_is_refused_and_the_outputs_are_kept(run: Path, texts: list[Text], tmp_path: Path) -> None:
    before = write(run, tmp_path, texts)
    (tmp_path / "b.en").write_text("another\n")
    with pytest.raises(ConfigurationError, match=r"work/001 holds a translation of another text"):
        write(run, tmp_path, texts)
    assert [(tmp_path / name).read_text().split("\n")[:-1] for name in ("out.en", "out.up")] == list(before)


def test_another_device_or_precision_is_refused_if_the_folder_names_them(
    run: Path, texts: list[Text], tmp_path: Path
) -> None:
    outputs, work = (tmp_path / "out.en", tmp_path / "out.up"), tmp_path / "work"
    write(run, tmp_path, texts)
    record = json.loads((tmp_path / "out.en.distillation.json").read_text())
    assert (record["device"], record["precision"]) == ("cpu", "float32")
    with pytest.raises(ConfigurationError, match="device is 'cpu' there and 'torch-cpu' here"):
        distill(teachers(run, tmp_path, "torch-cpu"), texts, *outputs, work)
    half = Teachers([str(run)], work, beam_size=2, device="cpu", precision="bfloat16")
    with pytest.raises(ConfigurationError, match="precision is 'float32' there and 'bfloat16' here"):
        distill(half, texts, *outputs, work)
    anywhere = Teachers([str(run)], work, beam_size=2, device="torch-cpu", same_device=False)
    distill(anywhere, texts, *outputs, work)
    for settings in work.glob("*/text.json"):  # As earlier versions wrote them, and as the last call has.
        assert not {"device", "precision"} & json.loads(settings.read_text())["translator"].keys()
    distill(teachers(run, tmp_path, "torch-cpu"), texts, *outputs, work)
    with pytest.raises(ConfigurationError, match="device is 'torch-cpu' there"):
        write(run, tmp_path, texts)


def test_texts_can_be_added_later(run: Path, texts: list[Text], tmp_path: Path) -> None:
    write(run, tmp_path, texts[:1])
    assert write(run, tmp_path, texts)[0] == READ


def test_outputs_can_be_gzip_files(run: Path, texts: list[Text], tmp_path: Path) -> None:
    outputs = tmp_path / "out.en.gz", tmp_path / "out.up.gz"
    distill(teachers(run, tmp_path), texts, *outputs, tmp_path / "work")
    assert gzip.decompress(outputs[0].read_bytes()).decode().split("\n")[:-1] == READ


def test_unusable_texts_are_refused_before_any_work(run: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "a.en").write_text("red\nblue\n")
    (tmp_path / "short").write_text("RED\n")
    for text, message in (
        (Text(tmp_path / "empty"), "there is no line to translate"),
        (Text(tmp_path / "missing"), "missing: cannot be read"),
        (Text(tmp_path / "a.en", tmp_path / "short"), "must be parallel"),
    ):
        with pytest.raises(DataError, match=message):
            write(run, tmp_path, [text])
    assert sorted(os.listdir(tmp_path)) == ["a.en", "empty", "short"]
