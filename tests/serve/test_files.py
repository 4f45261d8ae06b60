"""Files that clients send, and their translations that wait to be downloaded."""

import json

import pytest

from pocketmt.serving import files

from .conftest import Answer, RunningServer, Serve


def upload(
    server: RunningServer, name: str, content: bytes, headers: dict[str, str] | None = None, **fields: str
) -> Answer:
    """Send a file as a form."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in ({"source": "en", "target": "de"} | fields).items()
    ]
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
    headers = {"Content-Type": "multipart/form-data; boundary=x"} | (headers or {})
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
    ("head", "encoding"), [(b'<meta charset="iso-8859-1">', "cp1252"), (b"<!doctype html>", "ascii"), (b"", "utf-8")]
)
def test_html_stays_in_its_encoding(server: RunningServer, head: bytes, encoding: str) -> None:
    answer = upload(server, "page.html", head + b"<p>The door is big.</p>")
    assert isinstance(answer.json, dict), answer.body
    downloaded = server.get(answer.json["translatedFileUrl"].removeprefix(server.address)).body
    translated = str(server.translate("The door is big.")["translatedText"])
    assert downloaded == head + f"<p>{translated}</p>".encode(encoding, "xmlcharrefreplace")


def test_subtitles_keep_their_times(server: RunningServer) -> None:
    for name, head in (("film.srt", "\ufeff1\r\n"), ("film.VTT", "WEBVTT\r\n\r\n")):
        before, cue = f"{head}00:00:01,000 --> 00:00:02,000\r\n", "\r\n\r\n00:00:03,000 --> 00:00:04,000\r\n"
        answer = upload(server, name, f"{before}<i>A dog runs.</i>{cue}Two men\r\nplay.\r\n".encode())
        assert isinstance(answer.json, dict), answer.body
        downloaded = server.get(answer.json["translatedFileUrl"].removeprefix(server.address)).body.decode()
        dog, men = str(server.translate("A dog runs.\nTwo men play.")["translatedText"]).split("\n")
        first, _, second = downloaded.partition(cue)
        assert first == f"{before}<i>{dog}</i>"
        assert second.endswith("\r\n")
        assert " ".join(second.split()) == men


def test_subtitles_with_references_to_line_breaks_stay_with_their_times(server: RunningServer) -> None:
    start, cue = "1\n00:00:01,000 --> 00:00:02,000\n", "\n\n2\n00:00:03,000 --> 00:00:04,000\n"
    answer = upload(server, "film.srt", f"{start}Tom &amp;&#10;Bob.{cue}Two men play.\n".encode())
    assert isinstance(answer.json, dict), answer.body
    downloaded = server.get(answer.json["translatedFileUrl"].removeprefix(server.address)).body.decode()
    men = str(server.translate("Two men play.")["translatedText"])
    assert downloaded.startswith(start) and downloaded.endswith(f"{cue}{men}\n")


def test_strings_of_json_are_translated(server: RunningServer) -> None:
    before = server.metric("pocketmt_characters_total")
    answer = upload(server, "en.json", b'{"A dog runs.": "A dog runs.", "n": [1, "Two men\\r\\nplay."]}\n')
    assert server.metric("pocketmt_characters_total") == before + len("A dog runs.\nTwo men\nplay.\n")
    assert isinstance(answer.json, dict), answer.body
    downloaded = server.get(answer.json["translatedFileUrl"].removeprefix(server.address)).body.decode()
    dog, first, second = str(server.translate("A dog runs.\nTwo men\nplay.")["translatedText"]).split("\n")
    assert json.loads(downloaded) == {"A dog runs.": dog, "n": [1, f"{first}\r\n{second}"]}
    assert downloaded.endswith("}\n")


@pytest.mark.parametrize(
    "name, content, named",
    [
        ("text.pdf", b"x", "ends in .txt, .html, .htm, .xhtml, .xht, .srt, .vtt, .json or .arb"),
        ("text", b"x", "ends in .txt, .html, .htm, .xhtml, .xht, .srt, .vtt, .json or .arb"),
        ("film.srt", b"Two dogs.", "film.srt: no times such as"),
        ("en.json", b'{"a": 1,}', "en.json, line 1: not JSON"),
        ("text.txt", b"\xff", "not UTF-8 at byte 0"),
        ("text.txt", b"x" * 100_001, "the file has 100,001 characters"),
        (
            "en.json",
            b'"' + b"x" * 20_000 + b' {n, select, a {} b {} c {} d {} e {} other {}}"',
            "all forms of its messages has 120",
        ),
    ],
)
def test_files_that_cannot_be_translated_are_refused(
    server: RunningServer, name: str, content: bytes, named: str
) -> None:
    answer = upload(server, name, content)
    assert answer.status == 400 and named in answer.body.decode()


@pytest.mark.parametrize(
    "target", ["de-x.exe\";filename*=UTF-8''evil.exe;a=\"", "de-日本", "de-\r\nX: y", "de/../%23?"]
)
def test_the_name_of_a_file_has_nothing_of_a_client_that_is_no_language(server: RunningServer, target: str) -> None:
    answer = upload(server, "a.txt", b"Two dogs.", target=target)
    assert answer.status == 400 and b"is not supported" in answer.body


def test_a_file_is_named_by_the_language_of_the_model(server: RunningServer) -> None:
    answer = upload(server, "a.txt", b"Two dogs.", target="DE_de-1996")
    assert isinstance(answer.json, dict), answer.body
    assert answer.json["translatedFileUrl"].endswith(".a_de.txt")


def test_downloads_are_counted_together(server: RunningServer) -> None:
    name = 'pocketmt_requests_total{path="/download_file/{name}",status="404"}'
    before = server.metric(name)
    server.get("/download_file/y.text_de.txt")
    assert server.metric(name) == before + 1


def test_a_proxy_names_the_address_of_a_file(serve: Serve) -> None:
    headers = {
        "X-Forwarded-Host": "example.com, other",
        "X-Forwarded-Prefix": "/translations/",
        "X-Forwarded-Proto": "https",
    }
    for server, start in (
        (serve(), "http://127.0.0.1"),
        (serve("--trusted-proxy", "127.0.0.0/8"), "https://example.com/translations/download_file/"),
    ):
        answer = upload(server, "a.txt", b"Two dogs.", headers)
        assert isinstance(answer.json, dict), answer.body
        assert answer.json["translatedFileUrl"].startswith(start)


def test_names_of_files_count_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 10_000)
    kept = files.TranslatedFiles()
    keys = [kept.keep("x" * 1_000, b"") for _ in range(100)]
    found = [key for key in keys if kept.find(key) is not None]
    assert 0 < len(found) < 10 and found[-1] == keys[-1]


def test_unknown_files_are_not_found(server: RunningServer) -> None:
    assert server.get("/download_file/x.text_de.txt").status == 404
    answer = server.post("/translate_file", file="text", source="en", target="de")
    assert answer.status == 400 and b"file is missing" in answer.body
