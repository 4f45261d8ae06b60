"""HTML: its tags are kept, its text is escaped, and nothing but its text is changed."""

import re
from html.parser import HTMLParser
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketmt.markup.division import Translation
from pocketmt.markup.links import Link
from pocketmt.markup.placing import render_segment
from pocketmt.markup.segments import divide_document
from pocketmt.markup.tokens import tokenize

from .conftest import RunningServer

FRAGMENTS = [
    "<p>", "</p>", "<b>", "</b>", "<i class='x>y'>", "</i>", "<a href=\"?a=1&b=2\">", "</a>", "<br>",
    "<img src=x alt='a b'>", "<script>if (a<b) alert('</b>')</script>", "<style>b > i {}</style>", "<!-- <b> -->",
    "<!-->", "<!--", "-->", "<", ">", "&amp;", "&lt;script&gt;", "&#60;b&#62;", "&", "\"", "'", "</", "</ ",
    "<?php x ?>", "<!doctype html>", "<b", "<b x='", "<span translate=no>", "</span>", "<code>x<y</code>",
    "<svg><style><b></style></svg>", "word ", "two words. ", "Ein, ", "\n", "\x00", "é", "<textarea><b></textarea>",
    "<SCRIPT>", "</SCRIPT >", "<plaintext>", "<title>a</title>", "<input>",
]  # fmt: skip


def reverse_words(text: str) -> Translation:
    """A translation that reverses the order of the words, with its links."""
    words = list(re.finditer(r"\S+", text))
    links, parts, length = [], [], 0
    for word in reversed(words):
        links.append(Link(*word.span(), length, length + len(word[0])))
        parts.append(word[0].upper())
        length += len(word[0]) + 1
    return Translation((" ".join(parts),), tuple(links))


def translate(document: str) -> str:
    segments = divide_document(document)
    assert "".join(segment.markup for segment in segments) == document
    return "".join(render_segment(segment, reverse_words(segment.text)) for segment in segments)


def test_tags_do_not_divide_placeholders() -> None:
    [segment] = [each for each in divide_document("a <b>b</b> {c} d") if each.text]
    sources = [match.span() for match in re.finditer(r"\S+", segment.text)]
    for text in ("X {c} Y", "{c} X Y", "X Y {c}"):
        targets = [match.span() for match in re.finditer(r"\S+", text)]
        for choice in product(sources, repeat=len(targets)):
            links = tuple(Link(*source, *target) for source, target in zip(choice, targets, strict=True))
            assert "{c}" in render_segment(segment, Translation((text,), links))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a <b>red</b> house", "HOUSE <b>RED</b> A"),
        ("<p>one two</p><p>three</p>", "<p>TWO ONE</p><p>THREE</p>"),
        ("<a href='x'><b>one</b> two</a> three", "THREE <a href='x'>TWO <b>ONE</b></a>"),
        ("one <b>two</b>.", "<b>TWO</b>. ONE"),
        ("one <b>{two}</b> {x}", "{X} <b>{TWO}</b> ONE"),
        ("one <b>two</b> {x}.", "{X}. <b>TWO</b> ONE"),
        ("one<br>two", "ONE<br>TWO"),
        ("a &lt;b&gt; c", "C &lt;B&gt; A"),
        (f"a &#{'0' * 5_000}98; c", "C B A"),
        ("one <img src=x> two", "<img src=x>TWO ONE"),
        ("one <b></b>two", "<b></b>TWO ONE"),
        ("<b>one two", "TWO<b> ONE"),
        ("1 <b>2</b> 3", "1 <b>2</b> 3"),
        ("see <code>x &lt; y</code> now", "<code>x &lt; y</code>NOW SEE"),
        ("<pre>one  two</pre>", "<pre>one  two</pre>"),
        ("<div translate='no'>one <div>two</div></div> three", "<div translate='no'>one <div>two</div></div>THREE"),
        ("one <!-- two --> three", "<!-- two -->THREE ONE"),
    ],
)
def test_tags_go_with_their_words(source: str, expected: str) -> None:
    translated = translate(source)
    assert re.sub(r"\s", "", translated) == re.sub(r"\s", "", expected)
    if source != "<b>one two":
        assert translated.strip() == expected or "<code>" in source or "<img" in source or "<!--" in source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("one <code>x</code> two", "<code>x</code> TWO ONE"),
        ("one <code>x</code>, two", "TWO <code>x</code>, ONE"),
        ("one two <code>x</code>. three", "THREE <code>x</code>. TWO ONE"),
        ("one <code>x</code> <code>y</code> two", "<code>x</code> <code>y</code> TWO ONE"),
        ("<b>one <code>x</code> two</b> three", "THREE <b><code>x</code> TWO ONE</b>"),
        ("one <code>x</code>two", "<code>x</code>TWO ONE"),
        ("one <!-- x --> two", "<!-- x -->TWO ONE"),
        ("one<sup><a href='#1'>[1]</a></sup> two three", "THREE TWO ONE<sup><a href='#1'>[1]</a></sup>"),
        ("<b>one</b><sup>1</sup> two", "TWO <b>ONE</b><sup>1</sup>"),
        ("one two<b x='", "TWO ONE<b x='"),
        ("<b>one two</b><sup>1</sup> three", "THREE <b>TWO ONE</b><sup>1</sup>"),
        ("one <b>12</b> two", "TWO <b>12</b> ONE"),
        ("one<b>, </b>two", "TWO ONE<b>,</b>"),
    ],
)
def test_what_moves_as_a_whole_keeps_its_distance(source: str, expected: str) -> None:
    assert re.sub(" +", " ", translate(source)) == expected


def test_an_element_with_words_is_not_left_empty() -> None:
    (segment,) = divide_document("one <b>two</b> <i>three</i> four")
    # The second word belongs to none of the elements.
    translation = Translation(("eins zwei drei vier.",), (Link(0, 3, 0, 4), Link(14, 18, 5, 9)))
    assert render_segment(segment, translation) == "<b>eins</b> zwei <i>drei</i> vier."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<title>one &amp; two <b></title>", "<title>&lt;B&gt; TWO &amp; ONE</title>"),
        ("<title translate=no>one two</title>", "<title translate=no>one two</title>"),
        (
            "<select><option value=1>one two<option>three</select>",
            "<select><option value=1>TWO ONE<option>THREE</select>",
        ),
    ],
)
def test_titles_and_options_are_translated(source: str, expected: str) -> None:
    assert translate(source) == expected


@pytest.mark.parametrize(
    "copied",
    [
        "<script>let text = 'a <b>word</b>';</script>",
        "<script><!--<script>a word</script>--></script>",
        "<style>p { content: 'a word' }</style>",
        "<!-- a word -->",
        "<!--> a word-->",
        "<textarea>a <b>word</textarea>",
        "<svg><text>a word</text></svg>",
        "<a title='a > word' href=\"javascript:word()\">",
        "<iframe srcdoc='<b>a word</b>'></iframe>",
        "<noscript><b>a word</b></noscript>",
        "<b a word",
        "<plaintext>a word </plaintext>",
    ],
)
def test_what_is_no_text_is_copied(copied: str) -> None:
    translated = translate(f"<div>before</div>{copied}")
    if copied == "<!--> a word-->":
        assert translated == "<div>BEFORE</div>WORD--&gt; <!-->A"
    else:
        assert translated == f"<div>BEFORE</div>{copied}"


@pytest.mark.parametrize(
    ("before", "copied", "after", "translated"),
    [
        ("<ul>", "<li class=notranslate>PocketMT", "<li>a man</ul><p>two dogs", "<li>MAN A</ul><p>DOGS TWO"),
        ("<ul>", "<li translate=no>a<ul><li>b</ul>c", "<li>two dogs</ul>", "<li>DOGS TWO</ul>"),
        ("<ul>", "<li translate=no>a man", "</ul>two dogs", "</ul>DOGS TWO"),
        ("", "<p translate=no>a <br><b>man</b>", "<p>two dogs", "<p>DOGS TWO"),
        ("", "<p translate=no>a man", "<div>two dogs</div>", "<div>DOGS TWO</div>"),
        ("", "<p translate=no>a<button>b<p>c</button>d", "<hr>two dogs", "<hr>DOGS TWO"),
        ("<div>", "<p translate=no>a man", "</div>two dogs", "</div>DOGS TWO"),
        ("<b>", "<p translate=no>a</b> man</p>", "two dogs", "DOGS TWO"),
        ("<dl>", "<dt translate=no>a man", "<dd>two dogs</dl>", "<dd>DOGS TWO</dl>"),
        ("<table><tr>", "<td translate=no>a man", "<td>two dogs</table>", "<td>DOGS TWO</table>"),
        ("<table><tr>", "<td translate=no><table><tr><td>a</table>b", "<tr><td>two dogs", "<tr><td>DOGS TWO"),
        ("<table>", "<thead translate=no><tr><th>a", "<tbody><tr><td>two dogs", "<tbody><tr><td>DOGS TWO"),
        ("<table><tr><td>", "<p translate=no>a</tr>", "</table>two dogs", "</table>DOGS TWO"),
        ("<select>", "<option translate=no>a", "<option>two dogs</select>", "<option>DOGS TWO</select>"),
        ("<ruby>", "<rt translate=no>a", "<rp>two dogs</ruby>", "<rp>DOGS TWO</ruby>"),
        ("<p><i>", "<span translate=no>a man", "</i> two dogs", "</i>DOGS TWO"),
        ("<p>", "<code>a man", "</p>two dogs", "</p>DOGS TWO"),
        ("", "<span translate=no>a<div>man</span>", "<p>two dogs", "<p>DOGS TWO"),
        ("", "<p translate=no>a</i>b</ul>c", "<p>two dogs", "<p>DOGS TWO"),
        ("<ul>", "<li translate=no>a<li translate=no>b", "<li>two dogs", "<li>DOGS TWO"),
        ("<p>", "<svg><foreignObject><div>a man</div></foreignObject></svg>", " two dogs</p>", "DOGS TWO</p>"),
        ("<p>", "<svg><desc>a<p>man</p>b</desc></svg>", " two dogs</p>", "DOGS TWO</p>"),
        ("<p>", "<svg><foreignObject>a</p>man</foreignObject></svg>", " two dogs</p>", "DOGS TWO</p>"),
        ("<ul><li>", "<math><mtext><ul><li>a</ul><p>man</mtext></math>", " two dogs</ul>", "DOGS TWO</ul>"),
        ("<p>", "<math><annotation-xml><div>a</div></annotation-xml></math>", " two dogs</p>", "DOGS TWO</p>"),
        ("<p>", "<svg><path/>", "<div>two dogs</div>", "<div>DOGS TWO</div>"),
        ("<p>", "<code>a<div>man</div></code>", "</p>two dogs", "</p>DOGS TWO"),
        ("<p>", "<code>a<p>man</p>b</code>", "<p>two dogs", "<p>DOGS TWO"),
        ("<p>", "<code>a<div>b</div></p>man</code>", "<p>two dogs", "<p>DOGS TWO"),
        ("<p><code>a<p>b</code>", "<span translate=no>a<p>man</p></span>", "<hr>two dogs", "<hr>DOGS TWO"),
        ("<ul><li>", "<code>a<li>man</code>", "<li>two dogs</ul>", "<li>DOGS TWO</ul>"),
        ("<ul><li>", "<code>a<li>man", "</ul>two dogs", "</ul>DOGS TWO"),
        ("<dl><dt>", "<b translate=no>a<dd>man</b>", "<dt>two dogs</dl>", "<dt>DOGS TWO</dl>"),
        ("<p>", "<span translate=no>a", "<div>two dogs</div>", "<div>DOGS TWO</div>"),
        ("<table><tr><td>", "<code>a", "<td>two dogs</table>", "<td>DOGS TWO</table>"),
    ],
)
def test_what_is_copied_ends_where_html_ends_it(before: str, copied: str, after: str, translated: str) -> None:
    assert translate(before + copied + after) == before + copied + translated


def test_what_is_copied_without_its_end_tag_stays_in_place() -> None:
    assert translate("<p>one two <code>x</p>three four") == "<p>TWO ONE<code>x</p>FOUR THREE"
    assert translate("one two <code>x") == "TWO ONE<code>x"


class Tags(HTMLParser):
    """Counts tags, as Python's parser sees them."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open = 0
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(f"{tag} {attrs}")

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"/{tag}")


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
def test_tokens_join_to_the_document_and_tags_are_kept(document: str) -> None:
    assert "".join(token.text for token in tokenize(document)) == document
    translated = translate(document)
    before = sorted(token.text for token in tokenize(document) if token.name or token.copied)
    after = sorted(token.text for token in tokenize(translated) if token.name or token.copied)
    assert before == after


@given(
    st.lists(st.sampled_from([each for each in FRAGMENTS if each not in ("<b x='", "<b", "<!--", "<!-->")])).map(
        "".join
    )
)
def test_pythons_parser_sees_the_same_tags(document: str) -> None:
    assert sorted(Tags(document).found) == sorted(Tags(translate(document)).found)


@given(st.text("<b>/a \"'=!-&;x", max_size=60))
def test_any_text_is_divided(document: str) -> None:
    translate(document)


def test_long_hostile_documents_take_linear_time() -> None:
    for piece in ("<b>", "</b>", "<a b='", "<!--", "<script>", "&lt;", "<b><i></b>", "word <i>", "<code>", "</"):
        translate(piece * 10_000)
    for piece in (
        "<li><b>",
        "<b><li>",
        "<ol><div><li></li>",
        "<table><td>",
        "<p translate=no>",
        "<td translate=no><b>",
        "<p><code>",
        "<code><p>",
    ):
        translate(piece * 10_000)


def test_elements_of_a_translation_without_words_are_kept() -> None:
    (segment,) = divide_document("a <b>red <i>house</i></b>")
    assert render_segment(segment, Translation(("",))) == "<b><i></i></b>"


def test_the_server_keeps_text_and_html_apart(server: RunningServer) -> None:
    text = "Two dogs & <b>a cat</b> &amp; a bird."
    plain = server.translate(text)["translatedText"]
    markup = server.translate(text, format="html")["translatedText"]
    assert isinstance(plain, str) and isinstance(markup, str)
    assert "&amp;" in markup and markup.count("<b>") == markup.count("</b>") == 1
    assert "&lt;" not in plain
    script = "<p>Two dogs.</p><script>alert('Two dogs.')</script><p onclick='Two()'>&lt;script&gt; dogs</p>"
    translated = server.translate(script, format="html")["translatedText"]
    assert isinstance(translated, str)
    assert translated.startswith("<p>Zwei Hunde.</p><script>alert('Two dogs.')</script><p onclick='Two()'>")
    assert translated.count("<script") == 1


def test_inline_tags_follow_the_alignment(server: RunningServer) -> None:
    text = 'Two <b>dogs</b> play in the <a href="/snow">snow</a>.'
    translated = server.translate(text, format="html")["translatedText"]
    assert translated == 'Zwei <b>Hunde</b> spielen im <a href="/snow">Schnee</a>.'


@pytest.mark.parametrize("character", ["&shy;", "\u00ad", "&lrm;", "&#x2060;", "\ufeff"])
def test_invisible_characters_change_no_translation(server: RunningServer, character: str) -> None:
    plain = '<p>Two <b>dogs</b> play in the <a href="/snow">snow</a>.</p><p>Two dogs.</p>'
    hidden = plain.replace("dogs", f"{character}do{character}gs").replace("snow</a>", f"snow{character}</a>{character}")
    expected = server.translate(plain, format="html")["translatedText"]
    assert server.translate(hidden, format="html")["translatedText"] == expected
    assert server.translate(hidden, format="html", source="en", target="en")["translatedText"] == hidden


def test_invisible_characters_of_text_change_no_translation(server: RunningServer) -> None:
    plain, hidden = "Two dogs play.\n\nA man.", "\ufeffTwo d\u00adogs\u200b play.\u200e\n\u200b\nA man."
    expected, found = (server.translate(text, alignment=True) for text in (plain, hidden))
    assert found["translatedText"] == expected["translatedText"]

    def words(text: str, answer: dict[str, object]) -> list[str]:
        alignment = answer["alignment"]
        assert isinstance(alignment, list)
        return [text[start:end].replace("\u00ad", "") for (start, end), _ in alignment]

    assert words(hidden, found) == words(plain, expected)
