"""The examples of recipes in the documentation are valid recipes."""

from pathlib import Path

from pocketmt.compression.plan import PlannedStage
from pocketmt.compression.planning import make_plan
from pocketmt.models.presets import preset
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.quantization.registry import SCHEMES
from pocketmt.recipes.activations import FullQuantization
from pocketmt.recipes.schema import StraightThrough, read_recipe
from tools.documentation.blocks import blocks_of

DOCS = Path(__file__).resolve().parents[2] / "docs"


def planned_example(name: str, folder: Path) -> PlannedStage:
    blocks = [block for page in sorted(DOCS.rglob("*.md")) for block in blocks_of(page)]
    (example,) = (block.text for block in blocks if block.text.startswith(f'name = "{name}"\n'))
    (folder / "example.toml").write_text(example)
    return make_plan(read_recipe(folder / "example.toml"), preset("tiny", 100, "pre")).stages[-1]


def test_the_example_runs(tmp_path: Path) -> None:
    stage = planned_example("attention-3-bits", tmp_path)
    assert isinstance(stage.retraining, StraightThrough)
    kinds = {name.split(".")[-3] for name in stage.matrices if "layers" in name}
    assert kinds == {"self_attention", "cross_attention"}
    assert len(stage.matrices["embedding.weight"].schemes) == 4


def test_the_example_of_activations_is_the_papers_method(tmp_path: Path) -> None:
    stage = planned_example("fully-quantized-8-bits", tmp_path)
    assert stage.activations == FullQuantization()
    assert stage.estimation is not None and stage.estimation.delay == 100


def test_the_example_of_vectors_quantizes_biases_and_no_norm(tmp_path: Path) -> None:
    stage = planned_example("biases-8-bits", tmp_path)
    vectors = stage.vectors
    assert len(vectors) == 2 * (4 + 4)
    assert all(name.endswith((".inner.bias", ".outer.bias")) for name in vectors)
    assert "embedding.weight" not in stage.matrices and "decoder.layers.0.feed_forward.inner.weight" in stage.matrices


def test_the_example_of_products_has_the_papers_scale(tmp_path: Path) -> None:
    stage = planned_example("log-4-bit-dot-products", tmp_path)
    assert stage.input_quantization == LogarithmicActivations(4, 1.0)


def test_the_example_of_pruning_slices_and_quantizes(tmp_path: Path) -> None:
    stage = planned_example("pruned-8-bits", tmp_path)
    (nodes,) = stage.pruning
    assert [layer.name for layer in nodes.sublayers] == [f"encoder.layers.{index}.feed_forward" for index in range(4)]
    assert "embedding.weight" in stage.matrices


def test_every_scheme_is_explained() -> None:
    text = (DOCS / "concepts" / "schemes.md").read_text(encoding="utf-8")
    assert [name for name in SCHEMES if f"`{name}`" not in text] == []
