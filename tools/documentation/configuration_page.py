"""The page of all keys of training configurations, recipes and pipelines, generated from their schemas."""

import inspect
from collections.abc import Iterable
from typing import Final

import msgspec

from pocketmt.distillation import configuration as pipeline
from pocketmt.models.presets import PRESETS
from pocketmt.quantization.registry import SCHEMES
from pocketmt.recipes import pruning, schema
from pocketmt.recipes.matrices import KINDS, VECTOR_KINDS
from pocketmt.training import configuration as training
from tools.documentation.fields import Field, fields_of
from tools.documentation.tables import table

OPENING: Final = """# Configuration keys

PocketMT reads three kinds of TOML files: the configuration of a training run (`pocketmt train`), recipes
(`pocketmt compress`) and pipelines (`pocketmt pipeline`). This page is generated from their schemas. Unknown keys and
values that are not allowed are refused with a message that names the place.

Relative paths start at the folder of the file that names them. In the paths of training configurations and pipelines,
`${NAME}` stands for an environment variable, and `${NAME:-default}` has a default.
"""

RETRAINING: Final = (
    schema.FullPrecision,
    schema.StraightThrough,
    schema.TrainedParameters,
    schema.ErrorFeedback,
    schema.Periodic,
    schema.ErrorCompensation,
)


def configuration_page() -> str:
    """Return the page in Markdown."""
    return "\n".join([OPENING, *_training(), *_recipe(), *_pipeline()])


def _training() -> Iterable[str]:
    yield "## Training configuration\n"
    yield "Tables `[data]`, `[model]` and `[training]`; the [tutorial](../tutorial.md) has an example.\n"
    yield "### `[data]`\n"
    yield _keys(training.Data)
    yield "### `[model]`\n"
    yield _names("Presets", PRESETS)
    yield "A size that is not given is the preset's.\n"
    yield _keys(training.Model)
    yield "### `[training]`\n"
    yield _keys(training.Training)


def _recipe() -> Iterable[str]:
    yield "## Recipe\n"
    yield "[Compress a model](../guides/compress.md) has an example.\n"
    yield _keys(schema.Recipe)
    yield "### `[[stages]]`\n"
    yield _keys(schema.Stage)
    yield "### `[[stages.quantize]]`\n"
    yield "Give `matrices` or `vectors`.\n"
    yield _names("Sub-layer types", KINDS)
    yield _names("Kinds of vectors", VECTOR_KINDS)
    yield _names("[Schemes](../concepts/schemes.md)", SCHEMES)
    yield _keys(schema.Quantize)
    yield "### `[stages.retraining]`\n"
    yield "`method` chooses one of these; all but `error_compensation` have the keys of the first table.\n"
    yield _rows(field for field in fields_of(schema.FullPrecision))
    for method in RETRAINING:
        yield from _tagged("method", method)
    yield "#### `learning_rate`\n"
    yield _keys(schema.LearningRate)
    yield "### `[[stages.prune]]`\n"
    for removal in (pruning.FeedForwardNodes, pruning.GroupLasso, pruning.Magnitude):
        yield from _tagged("method", removal)
    yield "### `[stages.activations]`\n"
    yield _keys(schema.Activations)
    yield "### `[stages.matrix_inputs]`\n"
    for inputs in (schema.LogarithmicInputs, schema.StaticInputs):
        yield from _tagged("scheme", inputs)


def _pipeline() -> Iterable[str]:
    yield "## Pipeline\n"
    yield "[Distil a model](../guides/distil.md#the-full-pipeline) has an example.\n"
    yield _keys(pipeline.PipelineSettings)
    yield "### `[distillation]`\n"
    yield _keys(pipeline.Distillation)
    yield "### `[shortlist]`\n"
    yield _keys(pipeline.Shortlist)


def _tagged(key: str, struct: type[msgspec.Struct]) -> Iterable[str]:
    """Yield the section of one of several structs between which a key chooses."""
    first = (inspect.getdoc(struct) or "").partition("\n")[0]
    yield f'#### `{key} = "{struct.__struct_config__.tag}"`\n'
    yield f"{first}\n"
    fields = fields_of(struct, inherited=False)
    if fields:
        yield _rows(fields)


def _keys(struct: type[msgspec.Struct]) -> str:
    return _rows(fields_of(struct))


def _names(title: str, names: Iterable[str]) -> str:
    return f"{title}: {', '.join(f'`{name}`' for name in names)}.\n"


def _rows(fields: Iterable[Field]) -> str:
    rows = [(f"`{field.key}`", field.type, field.default, field.meaning) for field in fields]
    return table(("key", "type", "default", "meaning"), rows)
