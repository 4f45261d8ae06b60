"""Every built-in recipe is valid and gives a file on which the engine and PyTorch agree."""

from pathlib import Path

import pytest

from pocketmt.cli.main import run as run_command
from pocketmt.compression.planning import make_plan
from pocketmt.errors import ConfigurationError, OtherNetworkError
from pocketmt.recipes.catalogue import FOR_EVERY_NETWORK, LIBRARY, find_recipe, recipe_names
from tests.compression.tiny_run import lstm, write_tiny_run
from tests.recipes.parity import assert_packed_and_run_as_in_pytorch
from tests.small_network import architecture


@pytest.fixture(scope="module")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_run(tmp_path_factory.mktemp("tiny"))


def test_fifteen_recipes_are_built_in() -> None:
    assert recipe_names() == sorted(file.stem for file in LIBRARY.iterdir())
    assert len(recipe_names()) == 15
    assert {"8bit", "log4-distilled", "mixed-2.6-bits-distilled", "8bit-pruned-heads"} < set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_a_built_in_recipe_is_packed_and_run_as_in_pytorch(name: str, tiny_run: Path, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    assert recipe.name == name
    assert recipe.description
    assert_packed_and_run_as_in_pytorch(recipe, tiny_run, tmp_path)


@pytest.mark.parametrize("name", recipe_names())
def test_a_built_in_recipe_fits_every_transformer(name: str) -> None:
    make_plan(find_recipe(name), architecture("pre", attention_bias=True))


@pytest.mark.parametrize("name", recipe_names())
def test_a_built_in_recipe_fits_an_lstm_or_another_of_its_size_does(name: str) -> None:
    network = lstm(16, 48)
    if name in FOR_EVERY_NETWORK:
        assert "for Transformers" in find_recipe(name).description
        with pytest.raises(OtherNetworkError):
            make_plan(find_recipe(name), network)
    make_plan(find_recipe(FOR_EVERY_NETWORK.get(name, name)), network)


def test_a_command_names_another_built_in_recipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_tiny_run(tmp_path, network=lstm)
    own = tmp_path / "own.toml"
    own.write_bytes((LIBRARY / "mixed-2-bits-distilled.toml").read_bytes())
    problem = "stages[0].quantize[1].matrices: 'decoder.self_attention' matches no matrix of the network"
    for name, remedy in (
        ("mixed-2-bits-distilled", "choose another built-in recipe, such as entropy-2-bits-distilled\n"),
        (str(own), "give one of embedding, decoder.cross_attention, "),
    ):
        assert run_command(["compress", str(run), name, "--output", str(tmp_path / "small.pocketmt")]) == 1
        assert f"error: {name}: {problem}: {remedy}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "message"),
    [("9bit", "neither a file nor a built-in recipe"), ("missing.toml", r"missing\.toml: cannot be read")],
)
def test_unknown_recipes_are_refused(name: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_recipe(name)
