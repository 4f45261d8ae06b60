"""The forms in which a network's weights are stored: of every recipe of the library, and of every scheme and width."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pocketmt.model_file import Architecture
from pocketmt.recipes.description.catalogue import find_recipe, recipe_names
from pocketmt.recipes.description.plan import Division, make_plan
from pocketmt.recipes.description.schema import Quantize, Recipe, Stage

EIGHT_BIT = "uniform, 8 bit"
WIDTHS: Mapping[str, tuple[int, ...]] = {
    "uniform": (8,),
    "affine": (8, 6, 4),
    "logarithmic": (4, 3, 2, 1),
    "fixed_point": (4,),
    "codebook": (8, 4, 3, 2, 1),
    "binarization_flexible": (1,),
    "binary": (4, 3, 2, 1),
}
# Forms that are measured entropy-coded as well: what the coding costs in loading, and saves.
CODED = (EIGHT_BIT, "affine, 6 bit", "logarithmic, 4 bit")


@dataclass
class Form:
    """How every matrix of a network is stored; one that is not named is float32."""

    name: str
    matrices: Mapping[str, Division]
    recipes: list[str] = field(default_factory=list)  # of the library, whose files have this form
    entropy_coding: bool = False


def every_form(architecture: Architecture) -> list[Form]:
    """Return the forms of all schemes and widths, 8 bit first, then those that recipes alone have."""
    forms = [Form(name, _matrices(recipe, architecture)) for name, recipe in _uniform_recipes()]
    by_key = {_key(form.matrices): form for form in forms}
    for name in recipe_names():
        matrices = _matrices(find_recipe(name), architecture)
        if matrices:
            by_key.setdefault(_key(matrices), Form(name, matrices)).recipes.append(name)
    whole = list(by_key.values())
    return whole + [
        Form(f"{form.name}, entropy-coded", form.matrices, entropy_coding=True) for form in whole if form.name in CODED
    ]


def _uniform_recipes() -> Iterator[tuple[str, Recipe]]:
    """Yield a recipe for each scheme and width, all matrices in it."""
    for scheme, widths in WIDTHS.items():
        for bits in widths:
            name = f"{scheme.replace('_', ' ')}, {bits} bit"
            yield (
                name,
                Recipe(name=name, stages=[Stage(quantize=[Quantize(matrices=["*"], scheme=scheme, bits=bits)])]),
            )


def _matrices(recipe: Recipe, architecture: Architecture) -> dict[str, Division]:
    """Return what is quantized after the last stage."""
    return make_plan(recipe, architecture)[-1].matrices


def _key(matrices: Mapping[str, Division]) -> str:
    """Return the same text for the same bytes a weight: schemes that differ in training alone are stored alike."""
    return json.dumps(
        {
            name: [division.ratio, *(scheme.description() for scheme in division.schemes)]
            for name, division in sorted(matrices.items())
        }
    )
