"""The frontier of size and quality, chosen on the validation set."""

from typing import Any

from benchmarks.multi30k.frontier import frontier, goals


def row(recipe: str, size: int, perplexity: float, bleu: float = 30.0) -> dict[str, Any]:
    return {
        "recipe": recipe,
        "bytes": size,
        "entropy_coded_bytes": size + 1,
        "perplexity": perplexity,
        "tests": {"bleu": bleu},
    }


ROWS = [row("whole", 1600, 5.0), row("half", 400, 4.9, 29.0), row("worse", 500, 5.1, 31.0), row("tiny", 100, 7.0)]


def test_every_row_of_the_frontier_is_better_than_all_smaller_files() -> None:
    assert [each["recipe"] for each in frontier(ROWS)] == ["tiny", "half"]


def test_of_two_files_of_one_size_the_better_is_kept() -> None:
    assert [each["recipe"] for each in frontier([row("a", 7, 5.0), row("b", 7, 4.0)])] == ["b"]


def test_the_smaller_form_of_a_file_counts() -> None:
    coded = {**row("coded", 200, 6.0), "entropy_coded_bytes": 90}
    assert [(each["recipe"], each["least_bytes"]) for each in frontier([*ROWS, coded])] == [
        ("coded", 90),
        ("half", 400),
    ]


def test_a_goal_names_the_best_file_that_is_small_enough() -> None:
    found = {each["goal_smaller"]: each["recipe"] for each in goals(ROWS, 1600)}
    assert found == {3.8: "half", 7.8: "tiny", 11.8: "tiny", 16.0: "tiny"}
    assert goals([row("whole", 1600, 5.0)], 1600) == []
