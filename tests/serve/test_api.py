"""The HTTP API: translations as the command line makes them, and the answers of LibreTranslate."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator
from tests.cli.conftest import Run

from .conftest import MODEL, TEXTS, Answer, RunningServer, Serve

DOCUMENT = "  A man rides a bike.  Two dogs play.\r\n\r\nA\tboy runs.\n \nhttp://example.com\n"


def test_translations_are_those_of_the_command_line(server: RunningServer, pocketmt: Run) -> None:
    lines = [*TEXTS, "", "12 34", "http://example.com/a", "x" * 2000, "  spaces  around.  Two  sentences.  "]
    printed = pocketmt("translate", "--model", MODEL, stdin="".join(line + "\n" for line in lines).encode())
    assert server.translate(lines)["translatedText"] == printed.stdout.decode().split("\n")[:-1]


def test_a_document_keeps_its_paragraphs(server: RunningServer, translator: Translator) -> None:
    translated = server.translate(DOCUMENT)["translatedText"]
    assert translated == translator.translate_text(DOCUMENT)
    assert isinstance(translated, str)
    assert translated.count("\n") == DOCUMENT.count("\n")
    assert translated.startswith("  Ein Mann")


@pytest.mark.parametrize("listed", [False, True])
def test_the_source_language_is_detected(server: RunningServer, listed: bool) -> None:
    answer = server.translate([TEXTS[0]] if listed else TEXTS[0], source="auto")
    detected: Any = answer["detectedLanguage"]
    if listed:
        assert isinstance(detected, list)
        (detected,) = detected
    assert detected["language"] == "en"
    assert 50 < detected["confidence"] <= 100
    assert "detectedLanguage" not in server.translate(TEXTS[0])


def test_alternatives_are_other_translations(server: RunningServer) -> None:
    answer = server.translate(TEXTS[0], alternatives=3)
    alternatives = answer["alternatives"]
    assert isinstance(alternatives, list)
    assert 1 <= len(alternatives) <= 3
    assert len({answer["translatedText"], *alternatives}) == 1 + len(alternatives)
    listed = server.translate(TEXTS[:2], alternatives=1)["alternatives"]
    assert isinstance(listed, list) and len(listed) == 2 and listed[0] == alternatives[:1]
    assert "alternatives" not in server.translate(TEXTS[0])
    assert server.translate("<b>A dog.</b>", alternatives=2, format="html")["alternatives"] == []


def test_the_alignment_names_words_of_both_texts(server: RunningServer) -> None:
    text = "😀 Two dogs.\nA red house."
    answer = server.translate(text, alignment=True)
    translated, alignment = answer["translatedText"], answer["alignment"]
    assert isinstance(translated, str) and isinstance(alignment, list)
    pairs = {(text[first[0] : first[1]], translated[second[0] : second[1]]) for first, second in alignment}
    assert ("dogs.", "Hunde.") in pairs
    assert ("red", "rotes") in pairs
    assert len(alignment) == len(translated.split())


def test_a_text_in_the_target_language_stays(server: RunningServer) -> None:
    assert server.translate("Ein Hund", source="de")["translatedText"] == "Ein Hund"


@pytest.mark.parametrize("kind", ["form", "multipart", "json"])
def test_json_and_forms_are_understood(server: RunningServer, kind: str) -> None:
    if kind == "json":
        body, type_ = json.dumps({"q": "Two dogs.", "source": "en", "target": "de"}).encode(), "application/json"
    elif kind == "form":
        body, type_ = b"q=Two+dogs%2e&source=en&target=de", "application/x-www-form-urlencoded"
    else:
        parts = [("q", "Two dogs."), ("source", "en"), ("target", "de")]
        body = "".join(f'--x\r\nContent-Disposition: form-data; name="{a}"\r\n\r\n{b}\r\n' for a, b in parts).encode()
        body, type_ = body + b"--x--\r\n", "multipart/form-data; boundary=x"
    answer = server.request("POST", "/translate", body, {"Content-Type": type_})
    assert answer.json == {"translatedText": "Zwei Hunde."}


@pytest.mark.parametrize(
    ("fields", "status", "named"),
    [
        ({"q": None}, 400, "q"),
        ({"source": None}, 400, "source"),
        ({"target": None}, 400, "target"),
        ({"q": 5}, 400, "q"),
        ({"q": ["a", None]}, 400, "q"),
        ({"q": {"a": "b"}}, 400, "q"),
        ({"source": "xx"}, 400, "source 'xx'"),
        ({"target": "tlh"}, 400, "target 'tlh'"),
        ({"source": ["en"]}, 400, "source"),
        ({"source": "de", "target": "en"}, 400, "from de to en"),
        ({"format": "markdown"}, 400, "format"),
        ({"alternatives": -1}, 400, "alternatives"),
        ({"alternatives": 1e9}, 400, "alternatives"),
        ({"alternatives": "many"}, 400, "alternatives"),
        ({"q": "word " * 30_000}, 400, "100,000"),
        ({"q": ["a"] * 1001}, 400, "1,000"),
        ({"api_key": 1}, 400, "api_key"),
    ],
)
def test_a_wrong_field_is_named(server: RunningServer, fields: dict[str, object], status: int, named: str) -> None:
    answer = server.post("/translate", **({"q": "a dog", "source": "en", "target": "de"} | fields))
    assert answer.status == status
    assert isinstance(answer.json, dict)
    assert named in answer.json["error"]


def test_other_questions_are_answered(server: RunningServer) -> None:
    assert server.get("/languages").json == [
        {"code": "de", "name": "German", "targets": ["de"]},
        {"code": "en", "name": "English", "targets": ["de", "en"]},
    ]
    assert server.get("/health").json == {"status": "ok"}
    settings = server.get("/frontend/settings").json
    assert isinstance(settings, dict)
    assert settings["charLimit"] == 100_000
    assert settings["language"]["target"] == {"code": "de", "name": "German"}
    detected = server.post("/detect", q="Ein Hund läuft durch den Schnee.").json
    assert isinstance(detected, list) and detected[0]["language"] == "de"
    assert server.post("/detect", q="12!").json == [{"confidence": 0.0, "language": "de"}]
    specification = server.get("/spec").json
    assert isinstance(specification, dict)
    assert all(server.request("OPTIONS", path).status == 204 for path in specification["paths"])
    assert server.post("/suggest").status == 403
    assert server.get("/no-such-page").status == 404
    assert server.get("/translate").status == 405


def upload(server: RunningServer, name: str, content: bytes, **fields: str) -> Answer:
    """Send a file as a form."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in ({"source": "en", "target": "de"} | fields).items()
    ]
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    return server.request("POST", "/translate_file", b"".join([*parts, head, content, b"\r\n--x--\r\n"]), headers)


@pytest.mark.parametrize(
    "name, content, expected, saved",
    [
        ("two dogs.txt", "\ufeffTwo dogs.\n\nA man <b>runs</b>.\n", None, "two_dogs_de.txt"),
        ("page.HTML", "<p>Two <b>dogs</b>.</p><script>x</script>", "html", "page_de.html"),
    ],
)
def test_files_are_translated(server: RunningServer, name: str, content: str, expected: str | None, saved: str) -> None:
    answer = upload(server, name, content.encode())
    assert isinstance(answer.json, dict), answer.body
    address = answer.json["translatedFileUrl"]
    assert address.startswith(f"{server.address}/download_file/") and address.endswith(saved)
    downloaded = server.get(address.removeprefix(server.address))
    translated = server.translate(content.lstrip("\ufeff"), format=expected or "text")["translatedText"]
    assert downloaded.body.decode() == translated
    assert downloaded.headers["content-disposition"] == f'attachment; filename="{saved}"'
    assert downloaded.headers["content-type"] == "application/octet-stream"


@pytest.mark.parametrize(
    "name, content, named",
    [
        ("text.pdf", b"x", "ends in .txt or .html"),
        ("text", b"x", "ends in .txt or .html"),
        ("text.txt", b"\xff", "not UTF-8 at byte 0"),
        ("text.txt", b"x" * 100_001, "the file has 100,001 characters"),
    ],
)
def test_files_that_cannot_be_translated_are_refused(
    server: RunningServer, name: str, content: bytes, named: str
) -> None:
    answer = upload(server, name, content)
    assert answer.status == 400 and named in answer.body.decode()


def test_unknown_files_are_not_found(server: RunningServer) -> None:
    assert server.get("/download_file/x.text_de.txt").status == 404
    answer = server.post("/translate_file", file="text", source="en", target="de")
    assert answer.status == 400 and b"file is missing" in answer.body


def test_the_counters_grow(server: RunningServer) -> None:
    before = server.metric("pocketmt_characters_total"), server.metric("pocketmt_batch_sentences_sum")
    server.translate("Two dogs. A cat.")
    assert server.metric("pocketmt_characters_total") == before[0] + 16
    assert server.metric("pocketmt_batch_sentences_sum") == before[1] + 2
    assert server.metric("pocketmt_models_loaded") == 1


def test_other_pages_may_use_the_api_but_not_the_counters(server: RunningServer) -> None:
    assert server.get("/languages").headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-origin" not in server.get("/metrics").headers


def test_answers_have_headers_of_security(server: RunningServer) -> None:
    for path in ("/", "/page.js", "/languages", "/no-such-page", "/translate"):
        headers = server.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; ")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_no_text_is_logged(serve: Serve) -> None:
    server = serve()
    secret = "Xylophonist"
    for fields in ({"source": "en"}, {"source": "auto"}, {"format": "html"}, {"source": "xx"}, {"q": [secret, 1]}):
        server.post(
            "/translate", **({"q": f"A {secret} {{name}} 12345 plays.", "source": "en", "target": "de"} | fields)
        )
    server.request("POST", "/translate", f'{{"q": "{secret}'.encode(), {"Content-Type": "application/json"})
    server.request("POST", f"/translate?q={secret}&source=en&target=de")
    server.process.terminate()
    rest, _ = server.process.communicate(timeout=30)
    assert secret.lower() not in (rest + server.messages.read_text()).lower()


def test_keys_are_asked_for(serve: Serve, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("# the key of a test\nsecret-key-1\n")
    server = serve("--api-keys", keys, "--require-api-key", "--requests-per-minute", "3")
    assert server.post("/translate", q="a dog", source="en", target="de").status == 403
    assert server.post("/translate", q="a dog", source="en", target="de", api_key="secret-key-2").status == 403
    statuses = [server.post("/detect", q="a dog", api_key="secret-key-1") for _ in range(5)]
    assert [answer.status for answer in statuses] == [200, 200, 200, 429, 429]
    assert server.post("/health").status == 405
    assert 1 <= int(statuses[-1].headers["retry-after"]) <= 60


def test_guesses_of_keys_are_limited(serve: Serve, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("secret-key-1\n")
    server = serve("--api-keys", keys, "--require-api-key", "--requests-per-minute", "3")
    statuses = [server.post("/detect", q="a dog", api_key=f"guessed-key-{number}").status for number in range(4)]
    assert statuses == [403, 403, 403, 429]
    assert server.post("/detect", q="a dog").status == 429
    assert server.post("/detect", q="a dog", api_key="secret-key-1").status == 200


def test_a_client_cannot_name_another_address(serve: Serve) -> None:
    server = serve("--requests-per-minute", "2")
    statuses = [
        server.request("POST", "/detect", b'{"q": "a"}', {"X-Forwarded-For": f"10.0.0.{number}"}).status
        for number in range(4)
    ]
    assert statuses == [200, 200, 429, 429]
    trusting = serve("--requests-per-minute", "2", "--trusted-proxy", "127.0.0.1")
    statuses = [
        trusting.request("POST", "/detect", b'{"q": "a"}', {"X-Forwarded-For": f"10.0.0.{number}"}).status
        for number in range(4)
    ]
    assert statuses == [200] * 4


def test_a_taken_port_is_an_error(server: RunningServer, pocketmt: Run) -> None:
    answer = pocketmt("serve", "--port", str(server.place[1]))
    assert answer.returncode == 1
    assert answer.stderr.decode().startswith(f"error: cannot listen at 127.0.0.1 port {server.place[1]}")


def test_an_origin_that_no_header_can_have_is_an_error(pocketmt: Run) -> None:
    answer = pocketmt("serve", "--port", "0", "--allow-origin", "https://müller.example")
    assert answer.returncode == 2
    assert "Invalid value for '--allow-origin': it has other letters than ASCII" in answer.stderr.decode()


def test_a_folder_without_models_is_an_error(pocketmt: Run, tmp_path: Path) -> None:
    answer = pocketmt("serve", "--port", "0", str(tmp_path))
    assert answer.returncode == 1
    assert b"no model that can be served" in answer.stderr
    assert b"listens" not in answer.stdout + answer.stderr


def test_a_file_without_keys_is_an_error(pocketmt: Run, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("# none yet\n")
    answer = pocketmt("serve", "--port", "0", "--api-keys", tmp_path / "keys", "--require-api-key")
    assert answer.returncode == 1
    assert b"holds no key" in answer.stderr


def test_the_python_client_of_libretranslate_works(server: RunningServer) -> None:
    from libretranslatepy import LibreTranslateAPI  # type: ignore[import-untyped]

    client = LibreTranslateAPI(server.address)
    assert client.translate("Two dogs.", "en", "de") == "Zwei Hunde."
    assert client.detect("Two dogs run.")[0]["language"] == "en"
    assert [each["code"] for each in client.languages()] == ["de", "en"]


def test_a_javascript_client_of_libretranslate_works(server: RunningServer) -> None:
    package = Path("build/javascript-client/node_modules/translate")
    if not package.exists():
        pytest.skip("the npm package translate is missing: make javascript-client")
    program = (
        f"import {{ Translate }} from '{package.resolve()}/index.min.js';"
        f"const translate = Translate({{ engine: 'libre', url: '{server.address}/translate', key: 'none' }});"
        "console.log(await translate('Two dogs.', { from: 'en', to: 'de' }));"
    )
    answer = subprocess.run(
        ["node", "--input-type=module", "-e", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.stdout == "Zwei Hunde.\n", answer.stderr
