"""pocketmt translate: HTML, subtitles and JSON, whose text is replaced by its translation."""

import gzip
from pathlib import Path

import pytest

from pocketmt.engine import Translator

from .conftest import Run

HTML = """\
<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>My town</title><style>p { color: red }</style></head>
<body class="big"><h1>Where is the <b>train station</b>?</h1>
<!-- not this -->
<p>I have a <a href="dog.html">big dog</a>. It is five years old.</p>
<pre>keep  this</pre><p>Bread &amp; butter</p></body></html>
"""
SRT = (
    b"1\r\n00:00:01,000 --> 00:00:02,000\r\nGood night!\r\n\r\n"
    b"2\r\n00:00:03,000 --> 00:00:04,000\r\nWhere is\r\nmy dog?\r\n"
)


def test_html_keeps_its_markup(pocketmt: Run, tmp_path: Path) -> None:
    page, output = tmp_path / "page.html", tmp_path / "seite.html"
    page.write_text(HTML)
    answer = pocketmt("translate", "-i", page, "-o", output)
    assert (answer.returncode, answer.stderr) == (0, b"")
    found = output.read_text().split("\n")
    titles = Translator("everyday-en-de").translate(["My town", "It is five years old."])
    assert found[1].startswith(f'<html><head><meta charset="utf-8"><title>{titles[0]}</title><style>p {{ color: red }}')
    assert found[2] == '<body class="big"><h1>Wo ist der <b>Bahnhof</b>?</h1>'
    assert found[3] == "<!-- not this -->"
    assert found[4] == f'<p>Ich habe einen <a href="dog.html">großen Hund</a>. {titles[1]}</p>'
    assert found[5].startswith("<pre>keep  this</pre><p>Brot ")
    assert found[5].endswith("</p></body></html>")


def test_html_of_many_chunks_is_whole(pocketmt: Run, random_model: Path) -> None:
    page = "".join(f'<p id="{number}">a <i>red</i> house. the bird</p>\n' for number in range(700))
    answer = pocketmt("translate", "-m", random_model, "-b", "1", "--format", "html", stdin=page.encode())
    assert answer.returncode == 0, answer.stderr
    lines = answer.stdout.decode().split("\n")
    assert len(lines) == 701
    assert all(line.startswith(f'<p id="{number}">') for number, line in enumerate(lines[:-1]))
    assert all(line.count("<i>") == line.count("</i>") == 1 for line in lines[:-1])
    assert len({line.partition(">")[2] for line in lines[:-1]}) == 1


def test_html_without_text_is_copied(pocketmt: Run, random_model: Path) -> None:
    for page in (b"", b"<p></p>\r\n", b"<script>a < b</script>", b"<br>\n"):
        answer = pocketmt("translate", "-m", random_model, "--format", "html", stdin=page)
        assert (answer.returncode, answer.stdout) == (0, page)


def test_subtitles_keep_their_times(pocketmt: Run, tmp_path: Path) -> None:
    expected = SRT.replace(b"Good night!", b"Gute Nacht!").replace(b"Where is\r\nmy dog?", b"Wo ist\r\nmein Hund?")
    for name, content in (("film.srt", SRT), ("film.SRT.gz", gzip.compress(SRT))):
        path = tmp_path / name
        path.write_bytes(content)
        answer = pocketmt("translate", "-i", path)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, expected, b"")
    plain = pocketmt("translate", "-i", tmp_path / "film.srt", "--format", "text")
    assert plain.stdout.count(b"\n") == SRT.count(b"\n")
    assert plain.stdout != expected


def test_strings_of_json_are_translated_and_keys_are_copied(pocketmt: Run, tmp_path: Path) -> None:
    content = b"""\
{
  "Good night!": "Good night!",
  "@menu": "Good night!",
  "menu": [{"text": "Where is my dog, {name}?"}, 1],
  "dogs": "{n, plural, one {Good night!} other {Good night!}}",
  "days": "{n, plural, offset:1 other {# days}}"
}
"""
    expected = content.replace(b': "Good night!",\n  "@', b': "Gute Nacht!",\n  "@')
    expected = expected.replace(b"Where is my dog, {name}?", b"Wo ist mein Hund, {name}?")
    expected = expected.replace(b"{Good night!}", b"{Gute Nacht!}")
    warning = (
        "line 6: ICU messages (plural, select, choice) were copied, not translated: translate them by hand (they have "
        "an offset, a choice, an apostrophe before a brace, a # beside the forms, or braces that do not match)"
    )
    for name, written in (("en.json", content), ("en.arb.gz", gzip.compress(content))):
        path = tmp_path / name
        path.write_bytes(written)
        answer = pocketmt("translate", "-i", path)
        assert (answer.returncode, answer.stdout.decode()) == (0, expected.decode())
        assert answer.stderr.decode() == f"warning: {path}, {warning}\n"
    answer = pocketmt("translate", "--format", "json", "--field", "text", stdin=content)
    assert answer.stdout == content.replace(b"Where is my dog, {name}?", b"Wo ist mein Hund, {name}?")


def test_warnings_name_the_line_of_the_file(pocketmt: Run, tmp_path: Path) -> None:
    long = "house " * 100
    page, film = tmp_path / "page.html", tmp_path / "film.srt"
    page.write_text(f"<p>A dog.</p>\n\n<p>A cat.\n\n<p>A {long}</p>\n")
    film.write_text(f"1\n00:00:01,000 --> 00:00:02,000\nA dog.\n\n2\n00:00:03,000 --> 00:00:04,000\nA {long}\n")
    for path, line in ((page, 5), (film, 7)):
        answer = pocketmt("translate", "--longest-sentence", "100", "-i", path)
        assert answer.stderr.decode().startswith(f"warning: {path}, line {line}: text was copied, not translated")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "html", "--prefix", "Das"], "--prefix does not go with --format html"),
        (["--format", "html", "--device", "torch-cpu"], "--format html needs --device cpu"),
        (["--format", "html", "--n-best", "2"], "need --format text, not html"),
        (["--format", "subtitles", "--scores"], "need --format text, not subtitles"),
        (["--format", "subtitles", "--column", "1"], "--column needs --format tsv, not subtitles"),
        (["--format", "html", "--field", "text"], "--field needs --format jsonl or json, not html"),
        (["--format", "html", "--ray", "auto", "--output", "out"], "--ray needs --format text, not html"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(
    pocketmt: Run, random_model: Path, arguments: list[str], message: str
) -> None:
    answer = pocketmt("translate", "-m", random_model, *arguments, stdin=b"<p>a bird</p>")
    assert (answer.returncode, answer.stdout) == (2, b"")
    assert message in answer.stderr.decode()


@pytest.mark.parametrize("name", ["page.html", "film.srt"])
def test_what_is_not_utf_8_leaves_no_output(pocketmt: Run, random_model: Path, tmp_path: Path, name: str) -> None:
    path, output = tmp_path / name, tmp_path / "out"
    path.write_bytes(b"00:01,0 --> 00:02,0\n\xf6")
    answer = pocketmt("translate", "-m", random_model, "-i", path, "-o", output)
    assert (answer.returncode, answer.stdout) == (1, b"")
    assert f"{name}, line 2: not " in answer.stderr.decode()
    assert not output.exists()


def test_a_file_of_an_office_program_is_refused(pocketmt: Run, random_model: Path, tmp_path: Path) -> None:
    for name, message in (
        ("letter.docx", "letter.docx is not a text file: save it as HTML, or as text or TSV in UTF-8"),
        ("film.ass", "film.ass: subtitles of this kind are not supported: convert them to .srt or .vtt"),
        ("film.srt", "film.srt: no times such as 00:00:01,000 --> 00:00:04,000: give a file of subtitles"),
        ("en.json", "en.json, line 1: not JSON (Expecting value, column 1): correct it; comments and trailing commas"),
    ):
        path = tmp_path / name
        path.write_bytes(b"PK\x03\x04")
        answer = pocketmt("translate", "-m", random_model, "-i", path)
        assert (answer.returncode, answer.stdout) == (1, b"")
        assert message in answer.stderr.decode()


@pytest.mark.parametrize(
    ("name", "advice"),
    [("de.po", "convert it to TMX or JSON"), ("a.CSV.gz", "save it as TSV or JSON"), ("en.yml", "convert it to JSON")],
)
def test_structured_files_of_other_formats_are_translated_only_as_plain_text(
    pocketmt: Run, random_model: Path, tmp_path: Path, name: str, advice: str
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a bird\n") if path.suffix == ".gz" else b"a bird\n")
    answer = pocketmt("translate", "-m", random_model, "-i", path)
    assert (answer.returncode, answer.stdout) == (1, b"")
    assert f"are not supported: {advice}, or translate it line by line with --format text" in answer.stderr.decode()
    answer = pocketmt("translate", "-m", random_model, "-i", path, "--format", "text")
    assert (answer.returncode, answer.stderr) == (0, b"")
    assert answer.stdout


def test_plain_text_with_markup_is_translated_with_a_warning(pocketmt: Run, random_model: Path, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("a bird\n")
    answer = pocketmt("translate", "-m", random_model, "-i", path)
    assert answer.returncode == 0
    assert answer.stdout
    assert "as plain text, which may damage its Markdown markup" in answer.stderr.decode()
    assert pocketmt("translate", "-m", random_model, "-i", path, "--format", "text").stderr == b""


@pytest.mark.parametrize("name", ["out.docx", "out.zip", "out.pdf.gz"])
def test_archives_and_office_documents_are_not_written(
    pocketmt: Run, random_model: Path, tmp_path: Path, name: str
) -> None:
    answer = pocketmt("translate", "-m", random_model, "-o", tmp_path / name, stdin=b"a bird\n")
    assert answer.returncode == 1
    assert "files cannot be written: choose another suffix" in answer.stderr.decode()
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ('<meta charset="iso-8859-15">', "iso8859-15"),
        ('<meta charset="iso-8859-1">', "cp1252"),
        ('<?xml version="1.0" encoding="windows-1252"?>', "cp1252"),
        ('<!-- <meta charset="koi8-r"> --><meta charset="utf-8"><i title="ä">', "utf-8"),
        ('<meta charset="utf-16"><i title="ä">', "utf-8"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=UTF-8">', "utf-8"),
        ("<!doctype html>", "ascii"),
        ("", "utf-8"),
        ("<html><!-- ä -->", "utf-8"),
        ('<html><!--><meta charset="windows-874">', "cp874"),
        ('<meta charset="gbk">', "gb18030"),
        ("\ufeff<!doctype html>", "utf-8"),
        ('\ufeff<meta charset="iso-8859-1">', "utf-8"),
        ("\ufeff<!doctype html>", "utf-16-le"),
    ],
)
def test_a_document_stays_in_its_encoding(pocketmt: Run, head: str, encoding: str) -> None:
    page = f"{head}<p>The door is big.</p>".encode(encoding)
    answer = pocketmt("translate", "--format", "html", stdin=page)
    assert answer.returncode == 0, answer.stderr
    german = Translator("everyday-en-de").translate(["The door is big."])[0]
    assert "ü" in german
    assert answer.stdout == f"{head}<p>{german}</p>".encode(encoding, "xmlcharrefreplace")


def test_characters_of_windows_1252_are_read_as_browsers_do(pocketmt: Run) -> None:
    page = b'<meta charset="iso-8859-1"><i title="\x81"></i><p>It\x92s \x80 257.</p>'
    answer = pocketmt("translate", "--format", "html", stdin=page)
    assert answer.returncode == 0, answer.stderr
    assert b"\x80" in answer.stdout and b'"\x81"' in answer.stdout


@pytest.mark.parametrize("charset", ["x-none", "undefined", "unicode_escape", "utf-7", "rot13"])
def test_an_unknown_charset_is_refused(pocketmt: Run, random_model: Path, charset: str) -> None:
    page = f'<meta charset="{charset}"><p>a bird</p>'.encode()
    answer = pocketmt("translate", "-m", random_model, "--format", "html", stdin=page)
    assert (answer.returncode, answer.stdout) == (1, b"")
    assert f"declares the charset '{charset}', which is unknown" in answer.stderr.decode()


def test_xhtml_closes_elements_as_xml_does(pocketmt: Run) -> None:
    start = '<?xml version="1.0"?><html><head><script src="a.js"/><title/></head><body>'
    page = f"{start}<p>Where is the dog?</p>\n  <p>\n    <![CDATA[a > b]]>\n  </p></body></html>"
    answer = pocketmt("translate", "--format", "html", stdin=page.encode())
    german = Translator("everyday-en-de").translate(["Where is the dog?"])[0]
    assert answer.stdout.decode() == page.replace("Where is the dog?", german)


def test_white_space_around_text_stays(pocketmt: Run) -> None:
    page = "<ul>\r\n  <li>\r\n\tMy dog\r\n  <li>My <b>cat</b>\r\n</ul>\r\n"
    dog, cat = Translator("everyday-en-de").translate(["My dog", "My cat"])
    answer = pocketmt("translate", "--format", "html", stdin=page.encode()).stdout.decode()
    assert answer.replace("<b>", "").replace("</b>", "") == page.replace("My dog", dog).replace("My <b>cat</b>", cat)
