"""Many models: routes between languages, memory, and files that change while the server runs."""

import asyncio
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.serve.servers import free_port
from pocketmt.engine import Translator
from pocketmt.engine.bundled import resolve_model
from pocketmt.errors import ModelFileError
from pocketmt.serving import watching
from pocketmt.serving.models import catalogue as catalogue_module
from pocketmt.serving.models.catalogue import LOOKS_UNTIL_REMOVED, Catalogue, Changes, Routes, Step, make_routes
from pocketmt.serving.models.description import ModelDescription, describe_model
from pocketmt.serving.watching import watched_files
from tests.cli.conftest import command_line, write_random_model

from .conftest import TEXTS, RunningServer, Serve, running_server

SOURCES = ["a red house", "the green tree and a bird", "two dogs see the house"]


def description(source: str, targets: str, name: str = "") -> ModelDescription:
    return ModelDescription(Path(name or f"{source}-{targets}"), (0, 0, 0), (source,), tuple(targets.split()), 10)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def names(route: object) -> list[str] | None:
    return None if route is None else [str(step.model.path) for step in route]  # type: ignore[attr-defined]


def test_routes_lead_through_a_third_language() -> None:
    routes = make_routes(
        [description("en", "de fr"), description("de", "en"), description("fr", "en"), description("fr", "it")]
    )
    assert names(routes.route("en", "de")) == ["en-de fr"]
    assert names(routes.route("de", "fr")) == ["de-en", "en-de fr"]
    assert names(routes.route("en", "it")) == ["en-de fr", "fr-it"]
    assert names(routes.route("de", "it")) is None
    assert names(routes.route("de", "de")) == []
    assert routes.targets["de"] == ("en", "fr")
    assert routes.languages == ("de", "en", "fr", "it")


def test_english_is_the_preferred_third_language() -> None:
    routes = make_routes([description("ar", "cs en"), description("cs", "ja"), description("en", "ja")])
    assert names(routes.route("ar", "ja")) == ["ar-cs en", "en-ja"]


def test_codes_of_one_language_are_merged() -> None:
    english = description("deu_Latn", "eng_Latn")
    routes = make_routes([english, description("en", "de fr"), description("eng", "it")])
    assert routes.languages == ("de", "en", "fr", "it")
    assert routes.route("de", "en") == (Step(english, "deu_Latn", "eng_Latn"),)
    assert names(routes.route("de", "fr")) == ["deu_Latn-eng_Latn", "en-de fr"]
    assert names(routes.route("de", "it")) == ["deu_Latn-eng_Latn", "eng-it"]
    assert routes.targets["de"] == ("en", "fr", "it")
    assert [routes.find(code) for code in ("deu_Latn", "deu", "de-DE", "eng", "EN")] == ["de", "de", "de", "en", "en"]


def test_english_is_the_preferred_third_language_by_any_code() -> None:
    routes = make_routes([description("ara", "ces eng"), description("ces", "jpn"), description("eng", "jpn")])
    assert names(routes.route("ara", "jpn")) == ["ara-ces eng", "eng-jpn"]


def test_languages_that_a_code_does_not_tell_apart_keep_their_codes() -> None:
    routes = make_routes([description("en", "zho_Hans zho_Hant"), description("zh", "en"), description("cmn", "fr")])
    assert routes.languages == ("en", "fr", "zh", "zho_Hans", "zho_Hant")
    found = [routes.find(code) for code in ("zh", "zho", "zh-hant", "zh_Hans", "zho-Hant-TW")]
    assert found == ["zh", "zh", "zho_Hant", "zho_Hans", "zh"]
    assert make_routes([description("sr-Latn", "sr")]).languages == ("sr", "sr-Latn")
    simplified = make_routes([description("zho_Hans", "eng_Latn"), description("en", "zh")])
    assert simplified.languages == ("en", "zh")


def test_looking_at_the_files_of_many_languages_takes_no_time(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def count(models: Iterable[ModelDescription]) -> Routes:
        given = list(models)
        made.append(len(given))
        return make_routes(given)

    monkeypatch.setattr(catalogue_module, "make_routes", count)
    shutil.copy(models / "en-de.pocketmt", tmp_path / "a.pocketmt")
    catalogue = Catalogue([tmp_path], print)
    for _ in range(3):
        catalogue.refresh()
    assert made == [0, 1]
    shutil.copy(models / "de-fr.pocketmt", tmp_path / "b.pocketmt")
    catalogue.refresh()
    assert made == [0, 1, 2] and catalogue.routes.languages == ("de", "en", "fr")


def test_routes_of_many_languages() -> None:
    codes = tuple(f"{first}{second}{last}_Latn" for first in "jkq" for second in "abcdefgh" for last in "tuvwxyz")
    many = ModelDescription(Path("many"), (0, 0, 0), codes, codes, 10)
    routes = make_routes([many])
    assert all(len(routes.targets[code]) == len(codes) - 1 for code in routes.languages)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("zh", "zh-Hans"),
        ("ZH_hans", "zh-Hans"),
        ("pt-PT", "pt"),
        ("PT", "pt"),
        ("por_Latn", "pt"),
        ("zho", "zh-Hans"),
        ("x", None),
        ("", None),
        ("pt-é", None),
        ("pt-/", None),
        ("pt-" + "a" * 9, None),
    ],
)
def test_codes_are_found_without_region(code: str, found: str | None) -> None:
    assert make_routes([description("pt", "zh-Hans")]).find(code) == found


def test_a_model_file_is_described_by_its_header(models: Path, tmp_path: Path) -> None:
    described = describe_model(models / "de-fr.pocketmt")
    assert (described.sources, described.targets) == (("de",), ("fr",))
    assert described.memory > (models / "de-fr.pocketmt").stat().st_size
    content = (models / "de-fr.pocketmt").read_bytes()
    for number, wrong in enumerate((b"", content[:100], content[:-1], b"\xfd7zXZ\x00" + content, os.urandom(1000))):
        path = tmp_path / f"{number}.pocketmt"
        path.write_bytes(wrong)
        with pytest.raises(ModelFileError, match="cannot be served"):
            describe_model(path)


def test_the_catalogue_follows_its_folder(models: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    catalogue = Catalogue([tmp_path], messages.append)
    assert catalogue.models == {}
    path = tmp_path / "a.pocketmt"
    shutil.copy(models / "en-de.pocketmt", path)
    assert catalogue.refresh() == Changes((), ())
    assert catalogue.routes.languages == ("de", "en")
    shutil.copy(models / "de-fr.pocketmt", path)
    for _ in range(2):
        [changed] = catalogue.refresh().replaced
        assert changed.sources == ("de",) and catalogue.routes.languages == ("de", "en")
    catalogue.accept(changed)
    assert catalogue.routes.languages == ("de", "fr")
    path.write_bytes(b"broken")
    assert catalogue.refresh() == Changes((), ())
    assert catalogue.refresh() == Changes((), ())
    assert len(messages) == 1 and "cannot be served" in messages[0]
    assert catalogue.routes.languages == ("de", "fr")
    path.unlink()
    assert catalogue.refresh() == Changes((), ())
    assert catalogue.routes.languages == ("de", "fr")
    assert catalogue.refresh() == Changes((), (path,))
    assert not catalogue.routes.languages


def test_a_file_that_comes_back_as_it_was_is_not_replaced(models: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.pocketmt"
    shutil.copy(models / "en-de.pocketmt", path)
    catalogue = Catalogue([path], print)
    path.rename(tmp_path / "kept")
    shutil.copy(models / "de-fr.pocketmt", path)
    assert catalogue.refresh().replaced
    (tmp_path / "kept").rename(path)
    assert catalogue.refresh() == Changes((), ())


def test_a_folder_that_cannot_be_read_keeps_its_models(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []
    catalogue = Catalogue([models, tmp_path], messages.append)
    known = catalogue.models

    def unreadable(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "iterdir", unreadable)
        for _ in range(LOOKS_UNTIL_REMOVED + 1):
            assert catalogue.refresh() == Changes((), ())
    assert catalogue.models == known
    assert [message.partition(":")[0] for message in messages] == [str(models), str(tmp_path)]


def test_models_are_preferred_in_the_order_in_which_they_are_given(models: Path, tmp_path: Path) -> None:
    second = tmp_path / "a.pocketmt"
    shutil.copy(models / "en-de.pocketmt", second)
    messages: list[str] = []
    first = models / "en-de.pocketmt"
    catalogue = Catalogue([models / "fr-en.pocketmt", first, second], messages.append)
    catalogue.refresh()
    assert names(catalogue.routes.route("en", "de")) == [str(first)]
    assert next(iter(catalogue.routes.steps)) == ("fr", "en")
    assert messages == [f"{second}: not used, {first} translates en to de"]
    Catalogue([first, second], messages.append, by_languages=False)
    assert len(messages) == 1


def test_the_files_are_watched_after_an_error(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    catalogue = Catalogue([models], messages.append)
    looks = 0

    def refresh(self: Catalogue) -> Changes:
        nonlocal looks
        looks += 1
        raise OSError("no memory for a folder")

    async def work() -> None:
        async with watched_files(catalogue):
            while looks < 3:
                await asyncio.sleep(0.01)

    monkeypatch.setattr(watching, "SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr(Catalogue, "refresh", refresh)
    asyncio.run(asyncio.wait_for(work(), 20))
    assert len(messages) == 1 and "no memory for a folder" in messages[0]


def test_two_models_translate_through_a_third_language(serve: Serve, models: Path) -> None:
    server = serve(models)
    languages = {each["code"]: each["targets"] for each in server.get("/languages").json}  # type: ignore[attr-defined]
    assert languages["en"] == ["de", "en", "fr"]
    middle = Translator(models / "en-de.pocketmt").translate(SOURCES, check=False)
    expected = Translator(models / "de-fr.pocketmt").translate(middle, check=False)
    assert server.translate(SOURCES, target="fr")["translatedText"] == expected
    aligned = server.translate(SOURCES[0], target="fr", alignment=True)
    assert aligned["translatedText"] == expected[0]
    assert aligned["alignment"]


def test_models_that_name_languages_by_other_codes_translate_together(serve: Serve, tmp_path: Path) -> None:
    write_random_model(tmp_path / "a.pocketmt", "uniform8", 1, "eng_Latn", "deu_Latn")
    write_random_model(tmp_path / "b.pocketmt", "uniform8", 2, "fr", "en")
    server = serve(tmp_path)
    text = "Ein Mann fährt mit dem Fahrrad durch die Stadt zur Arbeit."
    middle = Translator(tmp_path / "a.pocketmt").translate([text], check=False)
    expected = Translator(tmp_path / "b.pocketmt").translate(middle, check=False)
    assert server.translate([text], source="de", target="eng")["translatedText"] == middle
    found = server.translate([text], source="auto", target="fr")
    assert found["translatedText"] == expected
    assert [each["language"] for each in found["detectedLanguage"]] == ["deu_Latn"]  # type: ignore[attr-defined]


def test_models_are_loaded_and_unloaded_within_the_memory(serve: Serve, models: Path) -> None:
    server = serve(models, "--model-memory", "9MB")
    for _ in range(3):
        for source, target in (("en", "de"), ("de", "fr"), ("fr", "en")):
            expected = Translator(models / f"{source}-{target}.pocketmt").translate(SOURCES, check=False)
            assert server.translate(SOURCES, source=source, target=target)["translatedText"] == expected
            assert server.metric("pocketmt_models_loaded") == 1
    assert server.messages.read_text().count(": loaded") == 9


def test_a_file_is_replaced_without_a_lost_request(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "served" / "model.pocketmt"
    path.parent.mkdir()
    expected = []
    for seed in (1, 2):
        write_random_model(tmp_path / f"{seed}.pocketmt", "uniform8", seed)
        expected.append(Translator(tmp_path / f"{seed}.pocketmt").translate(SOURCES, check=False))
    assert expected[0] != expected[1]
    shutil.copy(tmp_path / "1.pocketmt", path)
    server = serve(path.parent)
    wrong: list[object] = []
    seen: set[int] = set()
    end = threading.Event()

    def ask() -> None:
        while not end.is_set():
            found = server.translate(SOURCES)["translatedText"]
            seen.add(expected.index(found)) if found in expected else wrong.append(found)

    clients = [threading.Thread(target=ask) for _ in range(3)]
    for client in clients:
        client.start()
    time.sleep(0.3)
    path.write_bytes(b"half a file")  # As a slow copy leaves it for a while.
    time.sleep(2.5)
    shutil.copy(tmp_path / "2.pocketmt", path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)
    deadline = time.monotonic() + 20
    while 1 not in seen and time.monotonic() < deadline:
        time.sleep(0.1)
    end.set()
    for client in clients:
        client.join()
    assert not wrong
    assert seen == {0, 1}
    assert server.translate(SOURCES)["translatedText"] == expected[1]
    assert "model.pocketmt: cannot be served" in server.messages.read_text()


def test_a_damaged_file_for_other_languages_changes_nothing(serve: Serve, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    shutil.copy(models / "en-de.pocketmt", path)
    server = serve(tmp_path)
    expected = server.translate(SOURCES)
    content = bytearray((models / "de-fr.pocketmt").read_bytes())
    content[-100:] = bytes(100)
    (tmp_path / "new").write_bytes(content)
    os.replace(tmp_path / "new", path)
    wait_for(lambda: len(server.messages.read_text().splitlines()) > 1)
    assert server.translate(SOURCES) == expected
    assert server.post("/translate", q="x", source="de", target="fr").status == 400
    shutil.copy(models / "de-fr.pocketmt", tmp_path / "new")
    os.replace(tmp_path / "new", path)
    wait_for(lambda: server.post("/translate", q=SOURCES, source="de", target="fr").status == 200)
    assert server.post("/translate", q=SOURCES, source="en", target="de").status == 400


def test_a_removed_model_leaves_and_another_at_its_path_is_loaded(serve: Serve, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pocketmt"
    shutil.copy(models / "en-de.pocketmt", path)
    server = serve(tmp_path)
    server.translate(SOURCES)
    path.unlink()
    wait_for(lambda: server.get("/health").status == 503)
    answer = server.post("/translate", q="x", source="en", target="de")
    assert answer.status == 503 and answer.json == {"error": "there are no models: try again later"}
    wait_for(lambda: server.metric("pocketmt_models_loaded") == 0)
    shutil.copy(models / "de-fr.pocketmt", path)
    wait_for(lambda: server.get("/health").status == 200)
    expected = Translator(models / "de-fr.pocketmt").translate(SOURCES, check=False)
    assert server.translate(SOURCES, source="de", target="fr")["translatedText"] == expected


def test_a_text_of_many_models_is_not_mixed(server: RunningServer) -> None:
    assert server.translate(TEXTS)["translatedText"] == [server.translate(text)["translatedText"] for text in TEXTS]


def test_the_bundled_models_are_the_default() -> None:
    with running_server(bundled=True) as server:
        languages = {each["code"]: each["targets"] for each in server.get("/languages").json}  # type: ignore[attr-defined]
        assert languages == {"de": ["de", "en"], "en": ["de", "en"]}
        assert server.translate("Zwei Hunde.", source="de", target="en")["translatedText"] == "Two dogs."


def test_a_full_disk_for_messages_stops_nothing(tmp_path: Path) -> None:
    text = "A pretty woman plays a harpsichord."
    first, second = (resolve_model(name) for name in ("captions-en-de", "captions-en-de-8bit"))
    expected = [Translator(model).translate([text])[0] for model in (first, second)]
    assert expected[0] != expected[1]
    file, port = tmp_path / "model.pocketmt", free_port()
    shutil.copy(first, file)
    with open("/dev/full", "wb") as full:
        process = subprocess.Popen(
            command_line("serve", "--port", str(port), file), stdout=full, stderr=full, text=True
        )
    server = RunningServer(f"http://127.0.0.1:{port}", process, tmp_path)
    deadline = time.monotonic() + 30
    found: list[object] = []
    try:
        while expected[1] not in found:
            assert time.monotonic() < deadline and process.poll() is None
            with suppress(ConnectionError):
                found.append(server.translate(text)["translatedText"])
                if file.stat().st_size != second.stat().st_size:
                    # The server will say that it loaded the new model.
                    shutil.copy(second, tmp_path / "new")
                    os.replace(tmp_path / "new", file)
            time.sleep(0.1)
        assert found[0] == expected[0] and set(found) == set(expected)
    finally:
        process.terminate()
        process.wait(30)
