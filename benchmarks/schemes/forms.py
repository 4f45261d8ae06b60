"""The forms in which a network is stored and run: of all schemes and bit widths, and of all recipes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.recipe_files import find_recipe, recipe_names
from pocketmt.compression.activations.estimation import check_outcome
from pocketmt.compression.activations.matrix_inputs import InputQuantization
from pocketmt.compression.plan import RowGroupAssignment
from pocketmt.compression.planning import make_plan
from pocketmt.errors import ConfigurationError
from pocketmt.model_file import Architecture
from pocketmt.quantization.activations.logarithmic import LogarithmicActivations
from pocketmt.recipes.activations import FullQuantization
from pocketmt.recipes.schema import Activations, Quantize, Recipe, Stage, StaticInputs

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
# Bits of weights and activations of the fully quantized forms (Prato et al. 2020).
FULLY_QUANTIZED = (8, 6, 4)
# Forms that are also measured with entropy coding, which takes time to load.
CODED = (EIGHT_BIT, "affine, 6 bit", "logarithmic, 4 bit")


@dataclass
class Form:
    """How a network is stored and run.

    Attributes:
        name: the name of the form.
        assignments: how matrices and vectors are stored; the others are float32.
        recipes: names of recipes whose files have this form.
        entropy_coding: whether all codes are entropy-coded.
        activations: which activations are quantized within trained ranges.
        products: how inputs of quantized matrices are quantized; None: as in `activations`, or else in 8 bits with a
            scale per row.
    """

    name: str
    assignments: tuple[RowGroupAssignment, ...] = ()
    recipes: list[str] = field(default_factory=list)
    entropy_coding: bool = False
    activations: FullQuantization | None = None
    input_quantization: InputQuantization | None = None


def every_form(architecture: Architecture) -> list[Form]:
    """Return the forms of all schemes and bit widths, 8 bit first, then the others of recipes."""
    by_key = {}
    for name, stage in _named_stages():
        form = _form(Recipe(name=name, stages=[stage]), architecture)
        by_key[_key(form)] = form
    for name in recipe_names():
        recipe = find_recipe(name)
        form = _form(recipe, architecture)
        if form.assignments and _has_file(recipe):
            by_key.setdefault(_key(form), form).recipes.append(name)
    whole = list(by_key.values())
    return whole + [
        Form(f"{form.name}, entropy-coded", form.assignments, entropy_coding=True)
        for form in whole
        if form.name in CODED
    ]


def _named_stages() -> Iterator[tuple[str, Stage]]:
    """Yield a name and stage for each scheme and bit width, then with quantized activations; each has all matrices."""
    for scheme, widths in WIDTHS.items():
        for bits in widths:
            yield f"{scheme.replace('_', ' ')}, {bits} bit", Stage(quantize=[_everything(scheme, bits)])
    for bits in FULLY_QUANTIZED:
        stage = Stage(quantize=[_everything("affine", bits)], activations=Activations(bits=bits))
        yield f"affine, {bits} bit, fully quantized", stage
    yield f"{EIGHT_BIT}, static scales", Stage(quantize=[_everything("uniform", 8)], matrix_inputs=StaticInputs())


def _everything(scheme: str, bits: int) -> Quantize:
    return Quantize(matrices=["*"], scheme=scheme, bits=bits)


def _form(recipe: Recipe, architecture: Architecture) -> Form:
    """Return the form after the last stage."""
    last = make_plan(recipe, architecture).stages[-1]
    return Form(recipe.name, last.assignments, activations=last.activations, input_quantization=last.input_quantization)


def _has_file(recipe: Recipe) -> bool:
    """Return whether a model file can hold the result of a recipe; some recipes are only scored."""
    try:
        check_outcome(recipe)
    except ConfigurationError:
        return False
    return True


def _key(form: Form) -> str:
    """Return a text that is equal for forms of equal storage and operations, whatever their training."""
    stored = {
        name: [each.frequency_ratio, *(scheme.stored_form() for scheme in each.schemes)]
        for each in form.assignments
        for name in each.names
    }
    return json.dumps([stored, _run_as(form)], sort_keys=True)


def _run_as(form: Form) -> list[object]:
    """Return how activations are quantized, without their scales, which do not affect speed."""
    if form.activations is not None:
        settings = form.activations
        return ["ranges", settings.bits, sorted(settings.operations), sorted(settings.bucketed)]
    if isinstance(form.input_quantization, LogarithmicActivations):
        return ["logarithmic", form.input_quantization.bits]
    return ["scales by row" if form.input_quantization is None else "static scales"]
