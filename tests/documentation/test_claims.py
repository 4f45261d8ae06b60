"""Verdicts on the papers' claims: what they rest on, and the pages that count them."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.documentation.preparations import ROOT

OVERVIEW = ROOT / "docs" / "appendices" / "papers.md"
PAGES = sorted(OVERVIEW.parent.glob("paper-*.md"))
UNDECIDED = ("undecided (agrees)", "undecided (agrees in part)", "undecided (disagrees)")
# What settles a claim: several networks or seeds, or a measurement that no seed changes.
SETTLED_BY = re.compile(r"\bthree (?:networks|seeds)\b|\btimes:|\bmemory:")


def claims_of(page: Path) -> list[list[str]]:
    """Return claim, verdict and reason of each row of a page's table of claims."""
    _, _, section = page.read_text(encoding="utf-8").partition("\n## Claims\n")
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    assert rows[0] == ["claim", "verdict", "rests on"]
    return rows[2:]


def verdicts_of(*pages: Path) -> Counter[str]:
    return Counter(verdict for page in pages for _, verdict, _ in claims_of(page))


def words_of(page: str) -> str:
    """Return a page without emphasis and line breaks."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").replace("**", "").split())


def test_each_of_the_five_papers_has_a_page() -> None:
    assert len(PAGES) == 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_verdict_rests_on_one_seed(page: Path) -> None:
    for claim, verdict, reason in claims_of(page):
        assert verdict in ("confirmed", "refuted", *UNDECIDED), claim
        assert verdict in UNDECIDED or SETTLED_BY.search(reason), claim


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_overview_counts_the_verdicts_of_each_page(page: Path) -> None:
    found = verdicts_of(page)
    confirmed, refuted, rows = found["confirmed"], found["refuted"], found.total()
    counts = f"]({page.name}) | {rows} | {confirmed} | {refuted} | {rows - confirmed - refuted} |"
    assert counts in OVERVIEW.read_text(encoding="utf-8")


def test_other_pages_have_the_numbers_of_all_verdicts() -> None:
    found = verdicts_of(*PAGES)
    confirmed, refuted, rows = found["confirmed"], found["refuted"], found.total()
    settled = confirmed + refuted
    agrees, in_part, disagrees = (found[verdict] for verdict in UNDECIDED)
    assert (
        f"Of {rows} claims of five papers, {confirmed} are confirmed and {refuted} refuted. "
        f"The other {rows - settled} are undecided: "
        f"the results agree with {agrees}, agree in part with {in_part} and disagree with {disagrees}."
    ) in words_of("docs/results/papers.md")
    index = f"{settled} of {rows} are settled: {confirmed} confirmed, {refuted} refuted"
    assert index in words_of("docs/results/index.md")
    assert f"of {rows} claims of the papers, {settled} are settled now" in words_of("CHANGELOG.md")
