"""Draws attention weights of several models: one panel for each, queries as rows, dark colours for high weights."""

from pathlib import Path
from typing import Final

from benchmarks.attention.comparison import AttentionComparison
from pocketmt.atomic_file import atomic_write

_PANELS_IN_A_ROW: Final = 4
_PIECE_INCHES: Final = 0.24
_LABELS_INCHES: Final = 1.3  # around a panel
_SMALLEST_PANEL_INCHES: Final = 2.2
_NAMES: Final = {"cross": "Cross-attention", "encoder": "Encoder self-attention", "decoder": "Decoder self-attention"}

_KEYS: Final = {"cross": "source", "encoder": "source", "decoder": "target, as read"}
_QUERIES: Final = {"cross": "target, as written", "encoder": "source", "decoder": "target, as written"}


def draw_attention(comparison: AttentionComparison, path: Path) -> None:
    """Draw a comparison into a file; its suffix gives the format (.png, .svg, .pdf)."""
    from matplotlib.figure import Figure  # takes a second to import

    columns = min(len(comparison.models), _PANELS_IN_A_ROW)
    rows = -(-len(comparison.models) // columns)
    width = max(_PIECE_INCHES * len(comparison.keys), _SMALLEST_PANEL_INCHES) + _LABELS_INCHES
    height = _PIECE_INCHES * len(comparison.queries) + _LABELS_INCHES
    figure = Figure(figsize=(columns * width + 0.8, rows * height + 0.8), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).flatten()
    strongest = max(weight for model in comparison.models for row in model.weights for weight in row)
    for panel, model, title in zip(panels, comparison.models, _titles(comparison), strict=False):
        image = panel.imshow(model.weights, cmap="Blues", vmin=0, vmax=strongest, interpolation="nearest")
        panel.set_xticks(range(len(comparison.keys)), map(_plain, comparison.keys), rotation=90, fontsize=8)
        panel.set_yticks(range(len(comparison.queries)), map(_plain, comparison.queries), fontsize=8)
        panel.tick_params(length=0)
        panel.set_xlabel(_KEYS[comparison.kind], fontsize=8)
        panel.set_ylabel(_QUERIES[comparison.kind], fontsize=8)
        panel.set_title(title, fontsize=9)
    for panel in panels[len(comparison.models) :]:
        panel.set_axis_off()
    figure.colorbar(image, ax=panels.tolist(), shrink=0.6, aspect=30, label="weight of attention")
    figure.suptitle(_heading(comparison), fontsize=10)
    with atomic_write(path) as stream:
        figure.savefig(stream, format=path.suffix.removeprefix("."), dpi=150)


def _titles(comparison: AttentionComparison) -> list[str]:
    """Return the names of the models, without folders if they stay distinct, and their difference from the first."""
    short = [Path(model.model).name.removesuffix(".pocketmt") for model in comparison.models]
    names = short if len(set(short)) == len(short) else [model.model for model in comparison.models]
    layers = {model.layer for model in comparison.models}
    titles = []
    for index, (name, model) in enumerate(zip(names, comparison.models, strict=True)):
        layer = f", layer {model.layer}" if len(layers) > 1 else ""
        difference = f"\ndiffers from the first by {model.difference:.3f}" if index else ""
        titles.append(_plain(f"{name}{layer}{difference}"))
    return titles


def _heading(comparison: AttentionComparison) -> str:
    layers = {model.layer for model in comparison.models}
    layer = f"layer {layers.pop()}" if len(layers) == 1 else "last layer"
    head = "mean of all heads" if comparison.head is None else f"head {comparison.head}"
    heading = f"{_NAMES[comparison.kind]}, {layer}, {head}"
    if comparison.kind == "encoder":
        return heading
    name = comparison.target_by
    target = "the given target" if name is None else f"what {Path(name).name.removesuffix('.pocketmt')} writes"
    return _plain(f"{heading}\nevery model is made to write {target}")


def _plain(text: str) -> str:
    """Escape dollar signs, which Matplotlib would read as formulas."""
    return text.replace("$", r"\$")
