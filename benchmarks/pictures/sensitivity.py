"""BLEU that each part of a model loses at few bits, while all other parts stay in full precision."""

from collections.abc import Mapping
from typing import Any, Final

from benchmarks.pictures.bars import Bar, Panel, draw_panels
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

# Part in the record -> its name.
PARTS: Final = {
    "embedding": "embedding",
    "decoder.cross_attention": "decoder cross-attention",
    "decoder.self_attention": "decoder self-attention",
    "decoder.feed_forward": "decoder feed-forward",
    "encoder.self_attention": "encoder self-attention",
    "encoder.feed_forward": "encoder feed-forward",
}


def draw_sensitivity(record: Mapping[str, Any]) -> str:
    """Draw the loss of each part at 2 bits and at 1; ConfigurationError if the record lacks one."""
    rows = {look_up(row, "part"): row for row in look_up(record, "rows")}
    missing = PARTS.keys() - rows.keys()
    if missing:
        raise ConfigurationError(f"the record of the sensitivity has no {', '.join(sorted(missing))}")
    whole = float(look_up(record, "whole.bleu"))
    panels = []
    for bits, title in ((2, "at 2 bits"), (1, "at 1 bit")):
        losses = {part: max(whole - float(look_up(rows[part], f"bleu{bits}")), 0.0) for part in PARTS}
        kind = f"ours-{4 if bits == 2 else 2}"
        panels.append(Panel(title, [[Bar(PARTS[part], kind, loss, f"{loss:.1f}") for part, loss in losses.items()]]))
    return draw_panels(
        f"BLEU lost, of {whole:.1f}, with one part of the model at few bits",
        ["all other parts in full precision, no retraining; 2.1 million weights"],
        panels,
    )
