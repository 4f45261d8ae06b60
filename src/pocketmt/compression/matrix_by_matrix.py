"""Quantization after training, matrix by matrix, for models that memory does not hold twice in fp32.

Weights stay in the mapped pages of their file, which are released after each matrix, and codes go to a temporary file.
What memory holds at most besides the model is stated by MOST_WORKING_BYTES.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

import msgspec
from torch import Tensor

from pocketmt.compression.activations.estimation import check_outcome
from pocketmt.compression.error_compensation import collect_hessians
from pocketmt.compression.plan import Plan, PlannedStage
from pocketmt.compression.planning import make_plan
from pocketmt.compression.run import CompressionTask, compression_folder, configured, training_before
from pocketmt.compression.stage import sample_pairs
from pocketmt.compression.stage_context import piece_counts
from pocketmt.compression.texts import parallel_text, teacher_of, with_translations
from pocketmt.errors import ConfigurationError, ModelFileError
from pocketmt.model_file import ModelFile
from pocketmt.model_file.container.mapped_pages import release_pages
from pocketmt.model_file.writer import StreamedTensor, check_model_output, write_model
from pocketmt.models.networks import network_of
from pocketmt.packing.contents import FLOAT32, contents_of
from pocketmt.packing.decoded import mapped_model
from pocketmt.packing.encoding import EncodedParameter, encode_float32
from pocketmt.packing.model_file import parameter_members
from pocketmt.packing.scheme_choice import choose_row_groups
from pocketmt.packing.spooled_matrix import SpooledMatrix
from pocketmt.progress import Progress, no_progress
from pocketmt.quantization.error_compensation import ErrorCompensation
from pocketmt.quantization.row_groups import QuantizedGroup, RowGroup
from pocketmt.recipes.schema import Recipe
from pocketmt.training.data import Corpus
from pocketmt.training.trained_model import TrainedModel

BLOCK_WEIGHTS: Final = 1 << 22  # weights that are quantized at once, or one row
HESSIAN_BYTES: Final = 512 << 20  # of the matrices whose inputs are observed in one pass over the text, or of one
# Most memory of a compression beyond the bytes of the weights in fp32: Python, PyTorch and the engine, the
# translations, and the cross-attention caches and sums of one pass.
MOST_WORKING_BYTES: Final = 1 << 30


def compress_matrix_by_matrix(
    task: CompressionTask, recipe: Recipe, output: Path, progress: Progress = no_progress
) -> int:
    """Quantize the weights of a model file by a recipe that does nothing else; returns the new file's size in bytes.

    The codes are those that `compress_run` chooses. There is no validation, which would need a second network.

    Args:
        task: what to compress, a model file; without entropy coding.
        recipe: of one stage.
        output: the model file to write.
        progress: told how many matrices are quantized.

    Raises:
        ConfigurationError: the recipe or the task asks for more, or a scheme whose memory is not bounded; and as
            `mapped_model`, `configured` and `make_plan` do.
        DataError, ModelFileError: as `compress_run` does.
    """
    check_outcome(recipe)
    check_model_output(output)
    if task.entropy_coding:
        raise ConfigurationError("entropy coding needs the whole file in memory: leave out --entropy-coding")
    with compression_folder(task.folder), mapped_model(task.run) as (mapped, file):
        model = configured(mapped, task.configuration)
        plan = make_plan(recipe, model.architecture)
        stage = _only_stage(plan)
        corpus = _corpus(task, model, plan)
        with tempfile.TemporaryFile(dir=task.folder) as spool:
            quantization = _Quantization(model, file, stage, corpus, recipe.seed, spool)
            encoded = quantization.run(progress)
            return _write(task, recipe, model, quantization.groups, encoded, output)


def _only_stage(plan: Plan) -> PlannedStage:
    """Return the stage of a plan; ConfigurationError unless it quantizes weights, and does nothing else."""
    stage, name = plan.stages[0], plan.recipe.name
    more = stage.retraining or stage.pruning or stage.activations or stage.input_quantization or stage.vectors
    if len(plan.stages) > 1 or more or plan.recipe.start == "random":
        raise ConfigurationError(
            f"the recipe {name} does more than quantize matrices after training, which is all that is done matrix by "
            "matrix: choose another, such as log4-compensated, or leave out --low-memory"
        )
    for assignment in stage.assignments:
        for scheme in assignment.schemes:
            if scheme.entropy_coded or (scheme.granularity == "matrix" and not scheme.bounded_fit):
                raise ConfigurationError(
                    f"the recipe {name}: the scheme {scheme.name} of {assignment.names[0]} needs more memory than is "
                    "allowed: choose another, such as logarithmic, or leave out --low-memory"
                )
    return stage


def _corpus(task: CompressionTask, model: TrainedModel, plan: Plan) -> Corpus | None:
    """Return the text; the engine that translates plain text is gone when this returns.

    Raises ConfigurationError if plain text is given to a recipe that needs none, as there is no validation.
    """
    if not plan.needs_text:
        if task.source_text is not None:
            raise ConfigurationError(
                f"{task.source_text} would not be used: the recipe {plan.recipe.name} needs no text, and --low-memory "
                "scores nothing; leave the text or --low-memory out"
            )
        return None
    corpus = parallel_text(model, plan, task.source_text, task.warn)
    teacher = teacher_of(model, task.folder, task.translated)
    return with_translations(corpus, plan, task.source_text, teacher).corpus


class _Quantization:
    """Quantization of all matrices of a model."""

    def __init__(
        self,
        model: TrainedModel,
        file: ModelFile,
        stage: PlannedStage,
        corpus: Corpus | None,
        seed: int,
        spool: IO[bytes],
    ) -> None:
        self.model, self.file, self.spool = model, file, spool
        self.groups = stage.row_groups(model.weights, piece_counts(corpus, model.architecture))
        choose_row_groups(model.architecture, {**self.groups, "*": FLOAT32})  # refuses groups that no file holds
        self.compensated: list[str] = []
        self.pairs = []
        if stage.compensation is not None and corpus is not None:
            lookups = model.architecture.lookup_matrices
            self.compensated = [name for name in self.groups if name not in lookups]
            self.pairs = sample_pairs(corpus, stage.compensation.sentences, seed)

    def run(self, progress: Progress) -> dict[str, EncodedParameter]:
        """Return every parameter as it is stored, in the order of the network."""
        encoded: dict[str, EncodedParameter] = {}
        for name, compensation in self._compensations():
            encoded[name] = self._quantize(name, compensation)
            del compensation
            progress(len(encoded), len(self.groups))
            self._release()
        return {
            name: encoded.get(name) or self._in_float32(name) for name in self.model.architecture.parameter_shapes()
        }

    def _compensations(self) -> Iterator[tuple[str, ErrorCompensation | None]]:
        """Yield each matrix to quantize; a pass over the text gives the inputs of some matrices."""
        yield from ((name, None) for name in self.groups if name not in self.compensated)
        for names in _passes(self.compensated, self.model.architecture.parameter_shapes()):
            network = network_of(self.model.architecture, self.model.weights)
            hessians = collect_hessians(network, names, self.pairs)
            self._release()
            for name in names:
                yield name, ErrorCompensation(hessians.pop(name))

    def _quantize(self, name: str, compensation: ErrorCompensation | None) -> EncodedParameter:
        weight = self.model.weights[name]
        matrix = SpooledMatrix(name, (weight.shape[0], weight.shape[1]), self.groups[name], self.spool)
        for index, group in enumerate(self.groups[name]):
            scheme = group.scheme
            of_matrix = scheme.fit(group.of(weight)) if scheme.granularity == "matrix" else None
            for rows in _blocks(group, weight):
                if not bool(rows.isfinite().all()):
                    raise ModelFileError(f"the parameter {name!r} holds NaN or infinity: import the model again")
                parameters = scheme.fit(rows) if of_matrix is None else of_matrix
                if compensation is None:
                    codes = scheme.assign(rows, parameters)
                else:
                    codes = compensation.codes(scheme, rows, parameters)
                matrix.add(index, rows, QuantizedGroup(codes, parameters))
        return matrix.encoded()

    def _in_float32(self, name: str) -> EncodedParameter:
        if name not in self.file.tensors:
            return encode_float32(name, self.model.weights[name])
        data = self.file.data(name)
        return EncodedParameter({name: StreamedTensor("F32", self.file.layout(name)[1], lambda: (data,))})

    def _release(self) -> None:
        release_pages(self.file.buffer, 0, len(self.file.buffer))


def _passes(names: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[list[str]]:
    """Divide matrices such that X^T X of the inputs of each part fits into HESSIAN_BYTES."""
    part: list[str] = []
    size = 0
    for name in names:
        needed = 8 * shapes[name][1] ** 2
        if part and size + needed > HESSIAN_BYTES:
            yield part
            part, size = [], 0
        part.append(name)
        size += needed
    if part:
        yield part


def _blocks(group: RowGroup, weight: Tensor) -> Iterator[Tensor]:
    """Yield the rows of a row group, some at a time."""
    count = max(1, BLOCK_WEIGHTS // weight.shape[1])
    total = len(weight) if group.rows is None else len(group.rows)
    for start in range(0, total, count):
        yield weight[start : start + count] if group.rows is None else weight[list(group.rows[start : start + count])]


def _write(
    task: CompressionTask,
    recipe: Recipe,
    model: TrainedModel,
    groups: Mapping[str, tuple[RowGroup, ...]],
    encoded: Mapping[str, EncodedParameter],
    output: Path,
) -> int:
    about = {"licence": task.licence, "description": task.description, "recipe": msgspec.to_builtins(recipe)}
    contents = contents_of(model, FLOAT32, **about, training=training_before(model))
    described = contents.metadata.manifest_members(model.architecture, model.vocabularies.stored)
    member, tensor = contents.optional_parts()
    manifest = described | parameter_members(encoded, dict(groups)) | member
    tensors = {name: tensor for parameter in encoded.values() for name, tensor in parameter.tensors.items()}
    return write_model(output, manifest, tensors | tensor, model.vocabularies.stored, task.maximum_size)
