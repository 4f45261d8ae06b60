"""The forms in which a network is stored and run: of every recipe of the library, and of every scheme and width."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pocketmt.errors import ConfigurationError
from pocketmt.model_file import Architecture
from pocketmt.quantization.log_activations import LogarithmicActivations
from pocketmt.recipes.activations.estimation import check_outcome
from pocketmt.recipes.activations.fully_quantized import FullQuantization
from pocketmt.recipes.activations.products import ProductActivations
from pocketmt.recipes.description.catalogue import find_recipe, recipe_names
from pocketmt.recipes.description.plan import Division, make_plan
from pocketmt.recipes.description.schema import Activations, Quantize, Recipe, Stage, StaticProducts

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
# Bits of weights and activations alike, where both are quantized as paper Q has them.
FULLY_QUANTIZED = (8, 6, 4)
# Forms that are measured entropy-coded as well: what the coding costs in loading, and saves.
CODED = (EIGHT_BIT, "affine, 6 bit", "logarithmic, 4 bit")


@dataclass
class Form:
    """How a network is stored and run.

    Attributes:
        name: of the form.
        matrices: how each is stored, stacks of vectors among them; one that is not named is float32.
        recipes: of the library, whose files have this form.
        entropy_coding: whether all codes are entropy-coded.
        activations: which are quantized within ranges of their own.
        products: how those are quantized that meet quantized matrices; None: within `activations`, or else in 8 bits, a
            scale a row.
    """

    name: str
    matrices: Mapping[str, Division]
    recipes: list[str] = field(default_factory=list)
    entropy_coding: bool = False
    activations: FullQuantization | None = None
    products: ProductActivations | None = None


def every_form(architecture: Architecture) -> list[Form]:
    """Return the forms of all schemes and widths, 8 bit first, then those that recipes alone have."""
    by_key = {}
    for name, stage in _named_stages():
        form = _form(Recipe(name=name, stages=[stage]), architecture)
        by_key[_key(form)] = form
    for name in recipe_names():
        recipe = find_recipe(name)
        form = _form(recipe, architecture)
        if form.matrices and _has_file(recipe):
            by_key.setdefault(_key(form), form).recipes.append(name)
    whole = list(by_key.values())
    return whole + [
        Form(f"{form.name}, entropy-coded", form.matrices, entropy_coding=True) for form in whole if form.name in CODED
    ]


def _named_stages() -> Iterator[tuple[str, Stage]]:
    """Yield a stage for each scheme and width, then for ways to quantize activations, too; all matrices are in it."""
    for scheme, widths in WIDTHS.items():
        for bits in widths:
            yield f"{scheme.replace('_', ' ')}, {bits} bit", Stage(quantize=[_everything(scheme, bits)])
    for bits in FULLY_QUANTIZED:
        stage = Stage(quantize=[_everything("affine", bits)], activations=Activations(bits=bits))
        yield f"affine, {bits} bit, fully quantized", stage
    yield f"{EIGHT_BIT}, static scales", Stage(quantize=[_everything("uniform", 8)], products=StaticProducts())


def _everything(scheme: str, bits: int) -> Quantize:
    return Quantize(matrices=["*"], scheme=scheme, bits=bits)


def _form(recipe: Recipe, architecture: Architecture) -> Form:
    """Return what is quantized after the last stage."""
    last = make_plan(recipe, architecture)[-1]
    return Form(recipe.name, last.matrices, activations=last.activations, products=last.products)


def _has_file(recipe: Recipe) -> bool:
    """Return whether a model file holds what a recipe makes; some are there for their scores alone."""
    try:
        check_outcome(recipe)
    except ConfigurationError:
        return False
    return True


def _key(form: Form) -> str:
    """Return the same text for the same bytes a weight and operations; what training alone knows of is not in it."""
    matrices = {
        name: [division.ratio, *(scheme.description() for scheme in division.schemes)]
        for name, division in sorted(form.matrices.items())
    }
    return json.dumps([matrices, _run_as(form)])


def _run_as(form: Form) -> list[object]:
    """Return how activations are quantized; a scale, found or given, is as fast as any other."""
    if form.activations is not None:
        settings = form.activations
        return ["ranges", settings.bits, sorted(settings.operations), sorted(settings.bucketed)]
    if isinstance(form.products, LogarithmicActivations):
        return ["logarithmic", form.products.bits]
    return ["scales by row" if form.products is None else "static scales"]
