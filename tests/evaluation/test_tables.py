from typing import Any

import pytest

from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import Column, look_up, plain_table, write_value

ROWS: list[dict[str, Any]] = [
    {"model": "tiny", "bleu": 38.04, "bytes": 9_000_000, "where": {"test": "2016"}},
    {"model": "tiny, 8 bit", "bleu": None, "bytes": 2_300_000, "where": {"test": "2017"}},
]
COLUMNS = [Column.parse("model"), Column.parse("bleu:.2f=BLEU"), Column.parse("bytes"), Column.parse("where.test=set")]


def test_a_plain_table() -> None:
    assert plain_table(ROWS, COLUMNS).split("\n") == [
        "model         BLEU      bytes  set",
        "-----------  -----  ---------  ----",
        "tiny         38.04  9,000,000  2016",
        "tiny, 8 bit      -  2,300,000  2017",
    ]


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ConfigurationError, match="'tset' is not among test"):
        look_up(ROWS[0], "where.tset")
    with pytest.raises(ConfigurationError, match=r"no 'bleu\.more'"):
        look_up(ROWS[0], "bleu.more")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12_345.6, "12,346"),
        (38.04, "38.0"),
        (1.987, "1.99"),
        (0.01234, "0.0123"),
        (1_000_000, "1,000,000"),
        (True, "yes"),
        (None, "-"),
        (("a", 2), "a, 2"),
    ],
)
def test_values_as_text(value: object, text: str) -> None:
    assert write_value(value) == text
