"""The choice of schemes: patterns, presets and row groups."""

import click
import pytest

from pocketmt.cli.pack import pack as pack_command
from pocketmt.errors import ConfigurationError
from pocketmt.packing.contents import Schemes
from pocketmt.packing.scheme_choice import check_groups, choose_schemes, presets
from pocketmt.quantization import Logarithmic, Uniform
from pocketmt.quantization.row_groups import RowGroup


def test_the_command_takes_every_preset() -> None:
    (option,) = (parameter for parameter in pack_command.params if parameter.name == "scheme")
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == list(presets())


def test_the_first_pattern_that_fits_decides() -> None:
    matrices = ["embedding.weight", "encoder.a.weight", "decoder.a.weight"]
    chosen = choose_schemes(matrices, {"encoder.*": "float32", "*.a.weight": Logarithmic("row"), "*": Uniform()})
    assert chosen == {"embedding.weight": (RowGroup(Uniform()),), "decoder.a.weight": (RowGroup(Logarithmic("row")),)}


@pytest.mark.parametrize(
    ("schemes", "reason"),
    [
        ("uniform6", "unknown scheme 'uniform6': choose one of float32, uniform8, uniform7, logarithmic4"),
        ({"*": "uniform8"}, "the unknown scheme 'uniform8': give 'float32', a scheme or row groups"),
        ({"encodr.*": Uniform(), "*": "float32"}, "the pattern 'encodr.*' fits no matrix"),
        ({"encoder.*": Uniform()}, "no pattern fits the matrix 'embedding.weight'"),
    ],
)
def test_choices_that_cannot_be_meant(schemes: Schemes, reason: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        choose_schemes(["embedding.weight", "encoder.a.weight"], schemes)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "several row groups"),
        ([None, (0, 1)], "several row groups"),
        ([(0, 1)], "each of its 4 rows once"),
        ([(0, 1, 2), (2, 3)], "each of its 4 rows once"),
        ([(0, 1), (2, 4)], "each of its 4 rows once"),
        ([(1, 0), (2, 3)], "ascending order"),
        ([(0, 1, 2, 3), ()], "at least one"),
    ],
)
def test_groups_that_are_no_division_of_the_rows_are_refused(rows: list[tuple[int, ...] | None], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        check_groups("X", 4, [RowGroup(Uniform(), each) for each in rows])


def test_more_groups_than_indices_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="17 row groups; at most 16"):
        check_groups("X", 17, [RowGroup(Uniform(), (16 - row,)) for row in range(17)])
