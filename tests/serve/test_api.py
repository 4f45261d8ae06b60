"""The HTTP API: translations as the command line makes them, and the answers of LibreTranslate."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from pocketmt.engine import Translator
from pocketmt.errors import ConfigurationError
from pocketmt.serving.clients import key_digest, read_keys
from tests.cli.conftest import Run

from .conftest import MODEL, TEXTS, RunningServer, Serve

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


def multipart(q: bytes, type_: str = "") -> bytes:
    parts = [(b'"q"\r\n' + type_.encode(), q), (b'"source"\r\n', b"en"), (b'"target"\r\n', b"de")]
    return b"".join(b"--x\r\nContent-Disposition: form-data; name=%s\r\n%s\r\n" % each for each in parts) + b"--x--\r\n"


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
    assert "detectedLanguage" not in server.translate([])
    assert server.translate([], source="auto") == {"translatedText": [], "detectedLanguage": []}
    assert server.translate(TEXTS[0], source="Auto") == server.translate(TEXTS[0], source="auto")


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


def test_urls_and_placeholders_are_kept(server: RunningServer) -> None:
    text = "A man {name}, rides to http://a.b/c?d=e in a park 😀"
    answer = server.translate(text, alignment=True)
    translated, alignment = answer["translatedText"], answer["alignment"]
    assert isinstance(translated, str) and isinstance(alignment, list)
    assert server.translate(text)["translatedText"] == translated
    for part in ("{name},", "http://a.b/c?d=e", "😀"):
        source, target = text.index(part), translated.index(part)
        assert [[source, source + len(part)], [target, target + len(part)]] in alignment


def test_tags_do_not_divide_placeholders(server: RunningServer) -> None:
    answer = server.translate("A <b>man</b> with {name}, <i>{other}</i> in a park.", format="html")["translatedText"]
    assert isinstance(answer, str)
    assert "{name}" in answer and "{other}" in answer


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
        body, type_ = multipart(b"Two dogs."), "multipart/form-data; boundary=x"
    answer = server.request("POST", "/translate", body, {"Content-Type": type_})
    assert answer.json == {"translatedText": "Zwei Hunde."}


FORM, PARTS, JSON = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json"
LATIN_1 = "Content-Type: text/plain; charset=ISO-8859-1\r\n"


@pytest.mark.parametrize(
    ("type_", "body", "named"),
    [
        (FORM, b"q=Caf%E9&source=en&target=de", "the form is not UTF-8"),
        (FORM, b"q=Caf\xe9&source=en&target=de", "the form is not UTF-8"),
        (PARTS, multipart(b"Caf\xe9"), "the field 'q' is not UTF-8"),
        (PARTS, multipart(b"Caf\xc3\xa9", LATIN_1), "the field 'q' is in iso-8859-1"),
        (JSON, b'{"q": "Caf\xe9", "source": "en", "target": "de"}', "the body is not UTF-8"),
    ],
)
def test_other_encodings_are_refused(server: RunningServer, type_: str, body: bytes, named: str) -> None:
    answer = server.request("POST", "/translate", body, {"Content-Type": type_})
    assert answer.status == 400
    assert answer.json == {"error": f"{named}: send it in UTF-8"}


def test_an_address_in_another_encoding_is_refused(server: RunningServer) -> None:
    answer = server.request("POST", "/translate?q=Caf%E9&source=en&target=de")
    assert (answer.status, answer.json) == (400, {"error": "the query of the address is not UTF-8: send it in UTF-8"})


def test_ascii_may_be_declared_as_another_encoding(server: RunningServer) -> None:
    answer = server.request("POST", "/translate", multipart(b"Two dogs.", LATIN_1), {"Content-Type": PARTS})
    assert answer.json == {"translatedText": "Zwei Hunde."}


@pytest.mark.parametrize(
    ("fields", "status", "named"),
    [
        ({"q": None}, 400, "q"),
        ({"source": None}, 400, "source is missing: give the code of a language"),
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
    assert server.post("/translate/").status == 404  # no redirection past the path of a proxy
    refused = server.get("/translate")
    assert refused.status == 405
    assert refused.json == {"error": "/translate does not answer the method GET: send POST"}
    assert server.post("/languages").json == {"error": "/languages does not answer the method POST: send GET"}


@pytest.mark.parametrize(
    "fields",
    [
        {"format": None, "alternatives": None, "alignment": None, "api_key": None},
        {"format": "", "alternatives": "", "alignment": "", "api_key": ""},
        {"alignment": "False"},
    ],
)
def test_empty_fields_have_their_defaults(server: RunningServer, fields: dict[str, object]) -> None:
    assert server.translate("Two dogs.", **fields) == {"translatedText": "Zwei Hunde."}


def test_a_flag_may_be_in_any_case(server: RunningServer) -> None:
    assert server.translate("Two dogs.", alignment="True")["alignment"]
    assert server.translate("Two dogs.", alignment=1)["alignment"]
    assert "alignment" not in server.translate("Two dogs.", alignment=0)


def test_json_with_the_type_of_a_form_is_explained(server: RunningServer) -> None:
    answer = server.request(
        "POST", "/translate", b'{"q": "Two dogs."}', {"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert answer.status == 400 and b"set Content-Type: application/json" in answer.body


def test_the_specification_names_limits_and_errors(server: RunningServer) -> None:
    specification: Any = server.get("/spec").json
    translate = specification["paths"]["/translate"]["post"]
    fields = translate["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert fields["alternatives"]["maximum"] == 8
    assert {"400", "429", "503"} <= set(translate["responses"])
    assert "too many requests or connections" in translate["responses"]["429"]["description"]
    for path in ("/languages", "/health"):
        assert set(specification["paths"][path]["get"]["responses"]) == {"200", "429", "500", "503"}
    assert "404" in specification["paths"]["/download_file/{name}"]["get"]["responses"]
    assert set(specification["paths"]["/suggest"]["post"]["responses"]) == {"403"}


def test_the_counters_grow(server: RunningServer) -> None:
    before = server.metric("pocketmt_characters_total"), server.metric("pocketmt_batch_sentences_sum")
    server.translate("Two dogs. A cat.")
    assert server.metric("pocketmt_characters_total") == before[0] + 16
    assert server.metric("pocketmt_batch_sentences_sum") == before[1] + 2
    assert server.metric("pocketmt_models_loaded") == 1
    server.post("/translate", q="Two dogs.", source="en", target="fr")
    server.post("/detect", q="Two dogs.")
    assert server.metric("pocketmt_characters_total") == before[0] + 16
    assert 0 <= time.time() - server.metric("pocketmt_start_time_seconds") < 3_600


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


def test_requests_that_cannot_be_read_are_limited(serve: Serve) -> None:
    server = serve("--requests-per-minute", "3")
    wrong = [b"{", b'{"q": "a", "api_key": 1}', b"x" * 2_000_000, b"{"]
    statuses = [server.request("POST", "/detect", body, {"Content-Type": JSON}).status for body in wrong]
    assert statuses == [400, 400, 413, 429]
    assert server.post("/detect", q="a dog").status == 429


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


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--allow-origin", "https://müller.example", "it has other letters than ASCII"),
        ("--allow-origin", "https://a.example/path", "give an origin as browsers send it"),
        ("--allow-origin", "https://a.example\r\nX: y", "give an origin as browsers send it"),
        ("--allow-origin", "a.example", "give an origin as browsers send it"),
        ("--host", "", "it is empty"),
        ("--workers", "1025", "1025 is not in the range 1<=x<=1024"),
    ],
)
def test_a_wrong_value_is_an_error(pocketmt: Run, option: str, value: str, named: str) -> None:
    answer = pocketmt("serve", "--port", "0", option, value)
    assert answer.returncode == 2
    assert f"Invalid value for '{option}'" in answer.stderr.decode() and named in answer.stderr.decode()


@pytest.mark.parametrize("value", ["proxy.local", "10.0.0.1/8", ""])
def test_a_proxy_is_an_address_or_a_network(pocketmt: Run, value: str) -> None:
    answer = pocketmt("serve", "--port", "0", "--trusted-proxy", value)
    assert answer.returncode == 1
    assert "give an address such as 10.0.0.1, a network such as 10.0.0.0/8, or *" in answer.stderr.decode()


def test_a_folder_without_models_is_an_error(pocketmt: Run, tmp_path: Path) -> None:
    answer = pocketmt("serve", "--port", "0", str(tmp_path))
    assert answer.returncode == 1
    assert b"no model that can be served" in answer.stderr
    assert b"listens" not in answer.stdout + answer.stderr


def test_comments_and_a_byte_order_mark_are_no_keys(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("\ufeffsecret-key-1\n  # an indented comment\n\n secret-key-2 \n", encoding="utf-8")
    assert read_keys(tmp_path / "keys") == frozenset(map(key_digest, ("secret-key-1", "secret-key-2")))


def test_a_file_of_keys_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nope: cannot be read \(No such file or directory\): check the path"):
        read_keys(tmp_path / "nope")
    (tmp_path / "keys").write_bytes(b"\xff" * 8)
    with pytest.raises(ConfigurationError, match="save it as UTF-8"):
        read_keys(tmp_path / "keys")


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
