"""Attention in one sentence before and after compression (as Cheong and Daniel 2019, figures 1 and 2)."""

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, Final

from benchmarks.pictures.svg import FONT_SIZE, MARGIN, SMALL, WIDTH, Box, Drawing, text_width
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

# Name of a model file -> its title.
TITLES: Final = {
    "control": "full precision",
    "codebook-4bit": "4 bits, k-means",
    "magnitude-50-percent": "half pruned",
    "codebook-attention-1bit": "1 bit, k-means",
    "binarization-attention-flexible": "1 bit, BS-Flexible",
}
HEADINGS: Final = {
    "cross": "Attention of the translation (rows) to the source (columns)",
    "encoder": "Attention within the source, from rows to columns",
}
_PANELS_IN_A_ROW: Final = 2
_CELL: Final = 22.0  # at most; a line of text fits into it
_GAP: Final = 16.0
_TITLE: Final = 2 * SMALL + 14  # height of a panel's two lines
_LEAST_SHARE: Final = 0.02  # of the strongest weight; lighter cells are not drawn


def draw_attention_weights(record: Mapping[str, Any]) -> str:
    """Draw a record of `benchmarks.attention`: a panel for each model; ConfigurationError if one has no title."""
    models = list(look_up(record, "models"))
    titles = [_title(str(look_up(model, "model"))) for model in models]
    queries, keys = ([_plain(piece) for piece in look_up(record, side)] for side in ("queries", "keys"))
    beside = max(text_width(piece, SMALL) for piece in queries) + 10
    panel_width = (WIDTH - 2 * MARGIN - beside - (_PANELS_IN_A_ROW - 1) * _GAP) / _PANELS_IN_A_ROW
    cell = min(_CELL, panel_width / len(keys))
    below = max(text_width(piece, SMALL) for piece in keys) + 10
    panel_height = _TITLE + cell * len(queries)
    rows = -(-len(models) // _PANELS_IN_A_ROW)
    top = MARGIN + 2 * FONT_SIZE + 8
    heading = HEADINGS[look_up(record, "kind")]
    height = ceil(top + rows * panel_height + (rows - 1) * _GAP + below + MARGIN)
    drawing = Drawing(height, heading, f"Models: {', '.join(titles)}. Darker cells have larger weights.")
    drawing.text((MARGIN, MARGIN + FONT_SIZE), heading, bold=True)
    strongest = max(weight for model in models for weights in look_up(model, "weights") for weight in weights)
    for number, (model, title) in enumerate(zip(models, titles, strict=True)):
        row, column = divmod(number, _PANELS_IN_A_ROW)
        left = MARGIN + beside + column * (panel_width + _GAP)
        panel_top = top + row * (panel_height + _GAP)
        drawing.text((left, panel_top + SMALL), title, size=SMALL, bold=True)
        if number:
            distance = f"distance {float(look_up(model, 'difference')):.2f}"
            drawing.text((left, panel_top + 2 * SMALL + 4), distance, "muted", size=SMALL)
        _draw_cells(drawing, (left, panel_top + _TITLE), cell, look_up(model, "weights"), strongest)
        if column == 0:
            _name_rows(drawing, (left - 8, panel_top + _TITLE), cell, queries)
        if number + _PANELS_IN_A_ROW >= len(models):
            _name_columns(drawing, (left, panel_top + panel_height + 8), cell, keys)
    return drawing.svg()


def _draw_cells(
    drawing: Drawing, corner: tuple[float, float], cell: float, weights: Sequence[Sequence[float]], strongest: float
) -> None:
    left, top = corner
    width, height = cell * len(weights[0]), cell * len(weights)
    corners = [(left, top), (left + width, top), (left + width, top + height), (left, top + height), (left, top)]
    drawing.path(corners, "grid", 1.5)
    for row, of_row in enumerate(weights):
        for column, weight in enumerate(of_row):
            if weight >= _LEAST_SHARE * strongest:
                x, y = left + column * cell, top + row * cell
                drawing.cell(Box(x, y, x + cell, y + cell), "ours-4", weight / strongest)


def _name_rows(drawing: Drawing, corner: tuple[float, float], cell: float, pieces: Sequence[str]) -> None:
    for number, piece in enumerate(pieces):
        place = (corner[0], corner[1] + (number + 0.5) * cell + SMALL / 3)
        drawing.text(place, piece, anchor="end", size=SMALL)


def _name_columns(drawing: Drawing, corner: tuple[float, float], cell: float, pieces: Sequence[str]) -> None:
    for number, piece in enumerate(pieces):
        place = (corner[0] + (number + 0.5) * cell + SMALL / 3, corner[1])
        drawing.text(place, piece, anchor="end", size=SMALL, upwards=True)


def _title(model: str) -> str:
    """Return the title of a model file, which is named after its recipe or lies in the folder `control`."""
    path = Path(model)
    for name in (path.stem, path.parent.name):
        if name in TITLES:
            return TITLES[name]
    raise ConfigurationError(f"the record of the attention has a model without a title: {model}")


def _plain(piece: str) -> str:
    """Return a piece without the mark of SentencePiece that begins a word."""
    return piece.removeprefix("▁") or "▁"
