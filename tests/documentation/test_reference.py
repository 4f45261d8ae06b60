"""The generated pages: fields with their types, defaults and comments, commands with their options, recipes."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta

from pocketmt.errors import ConfigurationError
from pocketmt.recipes.catalogue import recipe_names
from pocketmt.training.configuration import Data, Model, Training
from tools.documentation.__main__ import PAGES, main
from tools.documentation.blocks import blocks_of
from tools.documentation.fields import Field, fields_of


class Settings(msgspec.Struct):
    """Settings of this test."""

    name: str  # A name.
    # A choice; None: the first.
    choice: Literal["a", "b"] | None = None
    share: Annotated[float, Meta(ge=0, lt=1)] = 0.5  # A share.
    parts: list[str] | msgspec.UnsetType = msgspec.UNSET  # Parts of a whole.


class Undescribed(msgspec.Struct):
    size: int


def test_fields_have_types_defaults_and_comments() -> None:
    assert fields_of(Settings) == [
        Field("name", "string", "required", "A name."),
        Field("choice", '`"a"`, `"b"`', "none", "A choice; none: the first."),
        Field("share", "number, at least 0, below 1", "`0.5`", "A share."),
        Field("parts", "list of strings", "none", "Parts of a whole."),
    ]


def test_a_field_without_a_comment_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"Undescribed\.size: the field has no comment"):
        fields_of(Undescribed)


@pytest.mark.parametrize("struct", [Data, Model, Training])
def test_every_key_of_a_training_configuration_is_listed(struct: type[msgspec.Struct]) -> None:
    page = PAGES["configuration.md"]()
    assert [name for name in struct.__struct_fields__ if f"| `{name}` |" not in page] == []


def test_every_recipe_and_command_is_listed() -> None:
    recipes, commands = PAGES["recipes.md"](), PAGES["commands.md"]()
    assert [name for name in recipe_names() if f"| `{name}` |" not in recipes] == []
    assert "## translate\n" in commands
    assert "`--beam-size, -b NUMBER`" in commands


def test_options_of_commands_have_their_kind_limits_and_whether_they_are_required() -> None:
    rows = [line for line in PAGES["commands.md"]().splitlines() if line.startswith("| `--")]
    assert "| `--output, -o PATH` | required | Folder of the run: weights, vocabulary and log. |" in rows
    options = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert "`--workers, -w NUMBER` (≥ 1)" in options
    assert "`--temperature NUMBER` (> 0)" in options
    assert "`--top-p NUMBER` (> 0, ≤ 1)" in options
    assert "`--beam-size, -b NUMBER` (≥ 1, ≤ 256)" in options


def test_the_pages_are_up_to_date() -> None:
    assert main(["--check"]) == 0


def test_blocks_have_languages_titles_and_sections(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# One\n\n```sh\n# not a heading\necho\n```\n\n## Two\n\n```toml title="a.toml"\nx = 1\n```\n')
    first, second = blocks_of(page)
    assert (first.language, first.title, first.section, first.runs) == ("sh", None, "One", True)
    assert (second.title, second.text, second.section, second.runs) == ("a.toml", "x = 1\n", "Two", False)


def test_a_fence_that_is_not_closed_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```sh\necho\n")
    with pytest.raises(ValueError, match="a fence is not closed"):
        blocks_of(page)
