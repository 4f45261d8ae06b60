"""TMX: units to translate, parallel text, and files that are not safe or not TMX."""

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import pytest

from pocketmt.errors import DataError
from pocketmt.text.formats import tmx_parser
from pocketmt.text.formats.tmx import read_sides, read_units

MEMORY = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><!-- a comment -->
  <header srclang="en-US" datatype="plaintext" segtype="sentence"><note>n</note></header>
  <body>
    <tu tuid="1">
      <prop type="x">kept</prop>
      <tuv xml:lang="EN-us"><seg>salt &amp; pepper</seg></tuv>
    </tu>
    <tu><tuv xml:lang="fr"><seg>Bonjour</seg></tuv></tu>
    <tu><tuv xml:lang="en"><seg>dog</seg></tuv><tuv xml:lang="de-AT"><seg>Hund</seg></tuv></tu>
    <tu><tuv lang="en"><seg>a <hi>red</hi> <ph>{1}</ph>bird</seg></tuv></tu>
  </body>
</tmx>
"""


def blocks(content: bytes, size: int = 50) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


def translated(content: bytes, size: int = 50, warnings: list[str] | None = None) -> bytes:
    """The output with upper-cased text as translations."""
    output = b""
    for unit in read_units(blocks(content, size), "file", ("en", "de"), ([] if warnings is None else warnings).append):
        assert unit is not None
        output += unit.before + unit.encode("\n".join(line.upper() for line in unit.lines)) + unit.after
    return output


def variants(content: bytes) -> list[list[tuple[str | None, str]]]:
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    return [
        [(each.get(language) or each.get("lang"), "".join(each.find("seg").itertext())) for each in unit.iter("tuv")]  # type: ignore[union-attr]
        for unit in ElementTree.fromstring(content).iter("tu")
    ]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_variant_is_added_to_units_that_lack_it_and_nothing_else_changes(size: int) -> None:
    warnings: list[str] = []
    content = MEMORY.encode()
    output = translated(content, size, warnings)
    assert variants(output) == [
        [("EN-us", "salt & pepper"), ("de", "SALT & PEPPER")],
        [("fr", "Bonjour")],
        [("en", "dog"), ("de-AT", "Hund")],
        [("en", "a red {1}bird"), ("de", "A RED BIRD")],
    ]
    added = output.decode().count("<tuv xml:lang=") - content.decode().count("<tuv xml:lang=")
    assert added == 2
    for line in MEMORY.splitlines():
        assert line.strip().removesuffix("</tu>") in output.decode()
    assert [warning.split(": ", 1)[1] for warning in warnings] == [
        "left unchanged: 1 unit without text in en",
        "left unchanged: 1 unit with text in de",
        "the translations lack the inline elements of 1 unit",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("segment", ["<seg></seg>", "<seg/>", "<seg a='>'> \n</seg>"])
def test_a_variant_without_text_is_replaced(segment: str, encoding: str) -> None:
    source = '<tu><note>é</note>\n<tuv xml:lang="en"><seg>a <ph>1</ph>bird</seg></tuv>'
    before, after = f"<tmx><body>{source}", ' <tuv xml:lang="fr"><seg/></tuv>\n</tu></body></tmx>'
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    content = f'{mark}{before}<tuv xml:lang="de-DE"><prop type="x"/>{segment}</tuv >{after}'
    warnings: list[str] = []
    output = translated(content.encode(encoding), warnings=warnings)
    assert variants(output) == [[("en", "a 1bird"), ("de", "A BIRD"), ("fr", "")]]
    assert output.decode(encoding).startswith(f"{mark}{before}<tuv xml:lang=")
    assert output.decode(encoding).endswith(f"<seg>A BIRD</seg></tuv>{after}")
    assert warnings == ["file: the translations lack the inline elements of 1 unit"]


def test_variants_with_inline_elements_are_kept_and_units_without_text_stay() -> None:
    warnings: list[str] = []
    units = (
        '<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="de"><seg><ph/></seg></tuv></tu>',
        '<tu><tuv xml:lang="en"><seg> </seg></tuv><tuv xml:lang="de"><seg/></tuv></tu>',
        '<tu><tuv xml:lang="de"><seg/></tuv></tu>',
    )
    content = f"<tmx><body>{''.join(units)}</body></tmx>".encode()
    assert translated(content, warnings=warnings) == content
    assert warnings == [
        "file: left unchanged: 2 units without text in en",
        "file: left unchanged: 1 unit with text in de",
    ]


class LateParser:
    """An expat parser that parses each block with the next one, as expat 2.6 parses some blocks late."""

    def __init__(self) -> None:
        self.__dict__.update(parser=expat.ParserCreate(), held=b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.parser, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.parser, name, value)

    def Parse(self, data: bytes, final: bool) -> None:
        held, self.__dict__["held"] = self.held, data
        self.parser.Parse(held, False)
        if final:
            self.parser.Parse(data, True)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("length", [240_000, 1_100_000])
def test_long_comments_lie_between_units(monkeypatch: pytest.MonkeyPatch, length: int, late: bool) -> None:
    if late:
        parser = LateParser()
        monkeypatch.setattr(expat, "ParserCreate", lambda: parser)
    unit = '<tu><tuv xml:lang="en"><seg>bird</seg></tuv></tu>\n'
    content = f"<tmx><body>{unit * 600}<!--{'x' * length}-->{unit * 9000}</body></tmx>".encode()
    assert variants(translated(content, 1 << 16)) == [[("en", "bird"), ("de", "BIRD")]] * 9600


def test_a_unit_is_yielded_when_its_end_has_arrived() -> None:
    content = MEMORY.replace("</tu>", f"</tu{' ' * 40}>", 1).encode()
    end = content.index(b"</tu ")
    parts = content[: end + 20], content[end + 20 : end + 30], content[end + 30 : end + 45], None
    unit = next(read_units(parts, "file", ("en", "de"), print))
    assert unit is not None and unit.lines == ("salt & pepper",)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_encoding_of_the_file_is_kept(encoding: str) -> None:
    body = '<tmx><body><tu><tuv xml:lang="en"><seg>café ß</seg></tuv></tu></body></tmx>'
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{body}'
    output = translated(text.encode(encoding))
    assert variants(output) == [[("en", "café ß"), ("de", "CAFÉ SS")]]
    assert output.startswith(text.removesuffix("</tu></body></tmx>").encode(encoding))


def test_characters_that_xml_forbids_are_replaced() -> None:
    content = b'<tmx><tu><tuv xml:lang="en"><seg>a</seg></tuv></tu></tmx>'
    unit, _ = read_units([content], "file", ("en", "de"), print)
    assert unit is not None
    assert unit.encode("\x00<&\x1b") == "\ufffd&lt;&amp;\ufffd".encode()


BOMB = (
    b'<?xml version="1.0"?>\n<!DOCTYPE tmx [\n<!ENTITY a "ha">\n'
    + b"".join(b'<!ENTITY %c "&%c;&%c;&%c;&%c;">\n' % ((98 + n, *[97 + n] * 4)) for n in range(20))
    + b']>\n<tmx><body><tu><tuv xml:lang="en"><seg>&t;</seg></tuv></tu></body></tmx>'
)
EXTERNAL = (
    b'<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    b'<tmx><tu><tuv xml:lang="en"><seg>&x;</seg></tuv></tu></tmx>'
)
UNREAD = b'<!DOCTYPE tmx SYSTEM "a.dtd"><tmx>\n<tu><tuv xml:lang="en"><seg>&nbsp;</seg></tuv></tu></tmx>'
PARAMETER = b'<!DOCTYPE tmx [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]><tmx/>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, "file, line 3: declares the entity 'a'"),
        (EXTERNAL, "file, line 1: declares the entity 'x'"),
        (PARAMETER, "file, line 1: declares the entity 'x'"),
        (UNREAD, "file, line 2: refers to the external entity 'nbsp'"),
        (b'<tmx>\n<tu><tuv xml:lang="en"></tu></tmx>', "file, line 2: not well-formed XML .mismatched tag"),
        (b"<tmx>\n<tu>", "not well-formed XML"),
        (b"", "not well-formed XML"),
        (b"a bird\n", "file, line 1: not well-formed XML"),
        (b"<html></html>", "file, line 1: the first element is <html>, expected <tmx>"),
        (b"<tmx>\n<tu><tuv><seg>a</seg></tuv></tu></tmx>", "file, line 2: a <tuv> without xml:lang"),
        (b'<tmx><tu><tuv xml:lang="fr"><seg>a</seg></tuv></tu></tmx>', "no unit has text in en.*languages: fr"),
        *(
            (
                f'<?xml version="1.0" encoding="{encoding}"?>\n<tmx/>'.encode(),
                f"file, line 1: cannot read the encoding {encoding!r}",
            )
            for encoding in ("Shift_JIS", "GB2312", "utf-7", "foo", "idna")
        ),
        (b"<tmx>" + b"<a>" * 10_000, "elements within more than 100 others"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_unsafe_and_malformed_files_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        translated(content)
    with pytest.raises(DataError, match=message.replace("in en", "in en and de")):
        list(read_sides(blocks(content), "file", ("source", "target"), ("en", "de")))


def test_a_unit_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tmx_parser, "MOST_UNIT_BYTES", 1000)
    with pytest.raises(DataError, match="1,000 bytes without a complete translation unit"):
        translated(b'<tmx><tu><tuv xml:lang="en"><seg>' + b"a " * 1000)


@pytest.mark.parametrize("languages", [("en", "de"), ("EN_gb", "de-DE"), None])
def test_both_sides_are_read_from_units_that_have_both(languages: tuple[str, str] | None) -> None:
    memory = MEMORY.replace('<tu><tuv xml:lang="fr"><seg>Bonjour</seg></tuv></tu>', "") if languages is None else MEMORY
    pairs = list(read_sides(blocks(memory.encode()), "file", ("source", "target"), languages))
    assert pairs == [("dog", "Hund")]


def test_a_third_language_needs_the_languages_to_be_named() -> None:
    memory = MEMORY.replace("dog</seg></tuv>", 'dog</seg></tuv><tuv xml:lang="it"><seg>cane</seg></tuv>')
    with pytest.raises(DataError, match="de-AT, en, it: name the two languages"):
        list(read_sides(blocks(memory.encode()), "file", ("source", "target"), None))


def test_sides_in_either_direction() -> None:
    assert list(read_sides([MEMORY.encode()], "file", ("source",), ("de", "en"))) == [("Hund",)]
    assert list(read_sides([MEMORY.encode()], "file", ("translation",), ("en", "de"))) == [("Hund",)]


@pytest.mark.parametrize(
    ("code", "tag"), [("deu_Latn", "de"), ("ger", "de"), ("zho_Hant", "zh-Hant"), ("pt_BR", "pt-BR"), ("de", "de")]
)
def test_variants_are_added_with_the_tag_of_the_standard(code: str, tag: str) -> None:
    content = b'<tmx><tu><tuv xml:lang="en"><seg>bird</seg></tuv></tu></tmx>'
    output = b"".join(
        unit.before + unit.after for unit in read_units([content], "file", ("eng_Latn", code), print) if unit
    )
    assert [language for language, _ in variants(output)[0]] == ["en", tag]


def test_variants_are_found_by_their_script() -> None:
    scripts = "".join(f'<tuv xml:lang="zh-{script}"><seg>{script}</seg></tuv>' for script in ("Hans", "Hant"))
    content = f'<tmx><tu><tuv xml:lang="en"><seg>bird</seg></tuv>{scripts}</tu></tmx>'.encode()
    for script in ("Hans", "Hant"):
        assert list(read_sides([content], "file", ("target",), ("en", f"zho_{script}"))) == [(script,)]


def one_unit(*tags: str) -> bytes:
    """A file of one unit, whose text in each language is its tag."""
    found = "".join(f'<tuv xml:lang="{tag}"><seg>{tag}</seg></tuv>' for tag in tags)
    return f"<tmx><body><tu>{found}</tu></body></tmx>".encode()


@pytest.mark.parametrize(
    ("languages", "tags", "pair"),
    [
        (("en-US", "en-GB"), ("en-US",), ("en-US", None)),
        (("en-US", "en-GB"), ("en-GB",), (None, "en-GB")),
        (("en-US", "en-GB"), ("en",), ("en", None)),
        (("en-US", "en-GB"), ("en-GB", "en"), ("en", "en-GB")),
        (("en-US", "en-GB"), ("en-AU", "en_us"), ("en_us", "en-AU")),
        (("en", "en-GB"), ("en-GB", "en-US"), ("en-US", "en-GB")),
        (("zho_Hant", "zho_Hans"), ("zh-Hant", "fr"), ("zh-Hant", None)),
        (("en", "eng"), ("en-GB",), ("en-GB", "en-GB")),
    ],
)
def test_two_variants_of_one_language_are_two_sides(
    languages: tuple[str, str], tags: tuple[str, ...], pair: tuple[str | None, str | None]
) -> None:
    content = one_unit(*tags)
    if None in pair:
        with pytest.raises(DataError, match="no unit has text in"):
            list(read_sides([content], "file", ("source", "target"), languages))
    else:
        assert list(read_sides([content], "file", ("source", "target"), languages)) == [pair]


def test_text_in_another_region_of_the_language_is_translated() -> None:
    def to_translate(*tags: str) -> list[tuple[str, ...]]:
        units = read_units([one_unit(*tags)], "file", ("pt-BR", "pt-PT"), print)
        return [unit.lines for unit in units if unit is not None and unit.line]

    assert to_translate("pt-BR", "fr") == [("pt-BR",)]
    assert to_translate("pt-PT", "fr") == to_translate("pt-BR", "pt-PT") == []


@pytest.mark.parametrize("languages", [("", ""), ("en", "")])
def test_languages_that_are_not_known_are_those_of_the_file(languages: tuple[str, str]) -> None:
    unit = b'<tu><tuv xml:lang="en"><seg>a</seg></tuv><tuv xml:lang="de"><seg>b</seg></tuv></tu>'
    content = b'<tmx><header srclang="en"/>' + unit + b"</tmx>"
    assert list(read_sides([content], "file", ("source", "target"), languages)) == [("a", "b")]
