"""The guide's example is a recipe that can be carried out."""

import re
from pathlib import Path

from pocketmt.models.presets import preset
from pocketmt.quantization.registry import SCHEMES
from pocketmt.recipes.plan import make_plan
from pocketmt.recipes.schema import StraightThrough, read_recipe

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


def test_the_example_can_be_carried_out(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "example.toml").write_text(example)
    (stage,) = make_plan(read_recipe(tmp_path / "example.toml"), preset("tiny", 100, "pre"))
    assert isinstance(stage.retraining, StraightThrough)
    kinds = {name.split(".")[-3] for name in stage.matrices if "layers" in name}
    assert kinds == {"self_attention", "cross_attention"}
    assert len(stage.matrices["embedding.weight"].schemes) == 4


def test_every_scheme_is_explained() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert [name for name in SCHEMES if f"`{name}`" not in text] == []
