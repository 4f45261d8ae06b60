"""The page in Chromium: translation while one types, alternatives, alignment, keyboard, names and small screens."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .conftest import RunningServer, Serve
from .test_markup import FRAGMENTS, translate

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Error, Page, Request, Route

CHROMIUM = shutil.which("chromium")
TEXT = "Two dogs play in the snow.\nA man rides a bike."
TRANSLATION = "Zwei Hunde spielen im Schnee.\nEin Mann fährt Fahrrad."

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing: apt install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # The sandbox needs rights that containers do not give.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser: "Browser") -> "Page":
    """One tab for all tests: a new one for each would take longer than the test."""
    tab = browser.new_page()
    tab.set_default_timeout(10_000)
    return tab


@pytest.fixture
def page(tab: "Page", server: RunningServer) -> Iterator["Page"]:
    """The page at a first visit."""
    problems: list[str] = []

    def look_at(request: "Request") -> None:
        if server.address not in request.url:
            problems.append(request.url)

    def note(error: "Error") -> None:
        problems.append(str(error))

    tab.set_viewport_size({"width": 1100, "height": 700})
    tab.on("pageerror", note)
    tab.on("request", look_at)
    tab.goto(server.address)
    tab.locator("#target option").first.wait_for(state="attached")
    yield tab
    tab.unroute_all()
    tab.emulate_media(color_scheme="null")
    tab.evaluate("localStorage.clear()")
    tab.context.clear_permissions()
    tab.goto("about:blank")
    tab.remove_listener("pageerror", note)
    tab.remove_listener("request", look_at)
    assert problems == []


def wait_for_translation(page: "Page", text: str) -> None:
    page.wait_for_function("text => document.getElementById('translation').textContent === text", arg=text)


def test_a_text_is_translated_while_it_is_typed(page: "Page") -> None:
    held: list[Route] = []
    cancelled: list[str] = []
    page.route("**/translate", lambda route, _: held.append(route))
    page.on("requestfailed", lambda request: cancelled.append(request.url))
    for typed, requests in (("Two dogs.", 1), (" A man rides a bike.", 2)):
        page.locator("#text").press_sequentially(typed, delay=10)
        for _ in range(100):
            if len(held) >= requests:
                break
            page.wait_for_timeout(50)
        assert len(held) == requests  # Typing quickly sends one request.
    assert cancelled == [held[0].request.url]
    held[1].continue_()
    wait_for_translation(page, "Zwei Hunde. Ein Mann fährt Fahrrad.")
    page.fill("#text", "")
    wait_for_translation(page, "")
    assert page.locator("#copy").is_disabled()


@pytest.mark.parametrize("held_path", ["page.js", "languages"])
def test_a_text_that_is_there_before_the_page_is_ready_is_translated(
    page: "Page", server: RunningServer, held_path: str
) -> None:
    held: list[Route] = []
    sources: list[str] = []

    def note(route: "Route") -> None:
        sources.append(json.loads(route.request.post_data or "")["source"])
        route.continue_()

    page.route(f"**/{held_path}", lambda route, _: held.append(route))
    page.route("**/translate", note)
    with page.expect_request(f"**/{held_path}"):
        page.goto(server.address, wait_until="commit")
    page.fill("#text", "Two dogs.")
    page.wait_for_timeout(400)  # A request would be sent by now.
    assert sources == []
    held[0].continue_()
    wait_for_translation(page, "Zwei Hunde.")
    assert sources == ["en"]
    assert page.locator("#status").text_content() == ""


@pytest.mark.parametrize(("headers", "requests"), [({}, 1), ({"Retry-After": "0.01"}, 4)])
def test_a_refused_text_is_sent_again_three_times_if_the_server_names_a_time(
    page: "Page", headers: dict[str, str], requests: int
) -> None:
    sent: list[str] = []

    def refuse(route: "Route") -> None:
        sent.append(route.request.url)
        route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>", headers=headers)

    page.route("**/translate", refuse)
    page.fill("#text", "Two dogs.")
    page.wait_for_function("() => document.getElementById('status').textContent === 'the server answers 502'")
    page.wait_for_timeout(400)
    assert len(sent) == requests
    page.unroute("**/translate")
    page.fill("#text", TEXT)
    wait_for_translation(page, TRANSLATION)
    assert page.locator("#status").text_content() == ""


def test_a_translation_is_announced(page: "Page") -> None:
    page.fill("#text", TEXT)
    wait_for_translation(page, TRANSLATION)
    assert TRANSLATION in page.get_by_role("status").all_text_contents()


def test_fields_follow_the_direction_of_their_texts(page: "Page") -> None:
    answer = {"translatedText": "مرحبا", "alternatives": ["أهلا"], "alignment": [[[0, 4], [0, 5]]]}
    page.route("**/translate", lambda route, _: route.fulfill(json=answer))
    page.fill("#text", "سلام")
    page.locator("#translation span").hover()
    for field in ("#text", "#source-marks", "#translation", "#alternatives button"):
        assert page.locator(field).evaluate("each => getComputedStyle(each).direction") == "rtl", field


def test_lines_alternatives_and_detection_are_shown(page: "Page") -> None:
    page.select_option("#source", "auto")
    page.fill("#text", TEXT)
    wait_for_translation(page, TRANSLATION)
    assert page.locator("#detected").text_content() == "Detected: English (100 %)"
    first = page.locator("#alternatives button").first
    alternative = first.text_content()
    first.click()
    assert page.locator("#translation").text_content() == alternative
    assert first.text_content() == TRANSLATION


def test_words_that_belong_together_are_marked(page: "Page") -> None:
    page.fill("#text", "😀\n" + TEXT)
    page.locator("#translation span", has_text="Hunde").hover()
    assert page.locator("#translation .marked").all_text_contents() == ["Hunde"]
    assert page.locator("#source-marks .marked").all_text_contents() == ["dogs"]
    page.locator("h1").hover()
    assert page.locator(".marked").count() == 0
    page.locator("#text").focus()
    page.keyboard.press("Control+Home")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    assert page.locator("#source-marks .marked").all_text_contents() == ["dogs"]


def test_markup_in_a_text_is_shown_as_text(page: "Page") -> None:
    page.fill("#text", "<img src=x onerror=\"document.title='run'\">\nTwo dogs.\n<script>document.title='run'</script>")
    page.wait_for_function("() => document.getElementById('translation').textContent.includes('Hunde')")
    assert page.locator("#translation img, #translation script").count() == 0
    assert page.title() == "PocketMT"


def test_the_translation_is_copied(page: "Page", server: RunningServer) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.address)
    page.fill("#text", TEXT)
    wait_for_translation(page, TRANSLATION)
    page.click("#copy")
    page.wait_for_function("() => document.getElementById('status').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == TRANSLATION


def test_the_keyboard_reaches_everything_and_all_has_names(page: "Page") -> None:
    page.fill("#text", TEXT)
    wait_for_translation(page, TRANSLATION)
    page.locator("#source").focus()
    reached = []
    for _ in range(8):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert [each for each in reached if each in ("source", "target", "text", "clear", "translation", "copy")] == [
        "source",
        "target",
        "text",
        "clear",
        "translation",
        "copy",
    ]
    for role, name in (
        ("combobox", "From"),
        ("combobox", "To"),
        ("textbox", "Text to translate"),
        ("textbox", "Translation"),
        ("button", "Copy"),
        ("button", "Swap languages"),
    ):
        assert page.get_by_role(role, name=name, exact=True).count() == 1, name  # type: ignore[arg-type]
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("#translation").get_attribute("lang") == "de"


@pytest.mark.parametrize("width", [320, 390, 1400])
def test_nothing_is_wider_than_the_screen(page: "Page", width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.fill("#text", TEXT + " " + "x" * 300)
    page.locator("#translation span").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_follows_the_browser(page: "Page") -> None:
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] == "rgb(246, 247, 249)"
    assert colours[1] == "rgb(21, 24, 28)"


def test_languages_are_swapped(browser: "Browser", serve: Serve, models: Path, tmp_path: Path) -> None:
    for name in ("en-de", "fr-en", "de-fr"):
        shutil.copy(models / f"{name}.pocketmt", tmp_path)
    server = serve(tmp_path)
    page = browser.new_page()
    page.goto(server.address)
    page.locator("#target option").first.wait_for(state="attached")
    page.select_option("#source", "en")
    page.select_option("#target", "fr")
    page.click("#swap")
    assert (page.input_value("#source"), page.input_value("#target")) == ("fr", "en")
    assert page.locator("#target option").all_text_contents() == ["German", "English"]
    page.close()


# What a browser would run or load, and all elements, of documents.
ACTIVE = """documents => documents.map(text => {
  const parsed = new DOMParser().parseFromString(text, "text/html");
  const all = [...parsed.querySelectorAll("*")];
  const active = all.filter(each => ["SCRIPT", "IFRAME", "IMG", "STYLE"].includes(each.tagName));
  const handlers = all.flatMap(each => [...each.attributes]).filter(each => each.name.startsWith("on"));
  return [
    active.map(each => each.outerHTML).concat(handlers.map(each => each.value)).sort(),
    all.map(each => each.tagName).sort(),
  ];
})"""
WELL_FORMED = [
    "<p>one <b>two <i>three</i></b> four",
    "<a href='#'>one</a> two, <img src=x> three",
    "one <br> two",
    "<hr>",
]


def test_a_browser_finds_nothing_else_to_run_in_translated_html(page: "Page") -> None:
    generator = random.Random(6)
    fragments = [*FRAGMENTS, "<p onclick='a()'>", "<img src=y onerror='a word'>", "<math>"]
    documents = ["".join(generator.choices(fragments, k=generator.randint(1, 25))) for _ in range(400)]
    translated = [translate(document) for document in documents]
    for document, before, after in zip(
        documents, page.evaluate(ACTIVE, documents), page.evaluate(ACTIVE, translated), strict=True
    ):
        assert before[0] == after[0], document


def test_a_browser_finds_the_same_elements_in_translated_html(page: "Page") -> None:
    generator = random.Random(7)
    documents = ["".join(generator.choices(WELL_FORMED, k=generator.randint(1, 6))) for _ in range(200)]
    translated = [translate(document) for document in documents]
    assert translated != documents
    assert page.evaluate(ACTIVE, documents) == page.evaluate(ACTIVE, translated)


def test_the_limit_is_said(page: "Page") -> None:
    page.fill("#text", "x" * 100_001)
    page.wait_for_function("() => document.getElementById('status').textContent.includes('100,000')")
    assert "error" in (page.locator("#count").get_attribute("class") or "")
