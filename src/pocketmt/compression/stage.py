"""One stage of a recipe: its updates, its validations on quantized weights, and its checkpoints."""

import dataclasses
import math
import random
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pocketmt.compression.activations.estimation import DelayedQuantization, estimate_ranges
from pocketmt.compression.activations.matrix_inputs import calibrate
from pocketmt.compression.error_compensation import compensate
from pocketmt.compression.networks import quantizing_network
from pocketmt.compression.plan import PlannedStage
from pocketmt.compression.pruning.sublayers import architecture_of, pruned_sizes
from pocketmt.compression.pruning.training import TrainedPruning, make_prunings
from pocketmt.compression.retraining.factory import parameter_trainer
from pocketmt.compression.stage_context import CompressionProgress, StageContext
from pocketmt.compression.stage_result import StageResult
from pocketmt.errors import DataError
from pocketmt.models.network import TranslationNetwork
from pocketmt.quantization.activations.static import StaticActivations
from pocketmt.quantization.row_groups import QuantizedMatrix, by_parameter, decoded_weights
from pocketmt.recipes.schema import SEQUENCE_OBJECTIVES, Retraining
from pocketmt.training.bleu_tokenization import WORDS, bleu_tokenization
from pocketmt.training.checkpoints import Weights, save_checkpoint
from pocketmt.training.data import Batch, Corpus, Pair
from pocketmt.training.hooks import Hook
from pocketmt.training.loop import LoopSettings, TrainingLoop
from pocketmt.training.objectives import TranslationObjective
from pocketmt.training.schedule import stage_rate
from pocketmt.training.steps import DivergedError, make_dropouts, make_optimizer, share_of_epoch
from pocketmt.training.validation import validate, validation_loss


class StageRun:
    """One process's share of one stage."""

    def __init__(
        self, context: StageContext, plan: PlannedStage, start: StageResult, progress: CompressionProgress
    ) -> None:
        """Build the network from the result of the stage before, and quantize its matrices."""
        self.context = context
        self.plan = plan
        self.progress = progress
        self.network = self._build(start.state)
        self.groups = plan.row_groups(start.weights, context.counts)
        self.network.to(context.fabric.device)
        self._calibrate()
        quantized = start.quantized
        if plan.compensation is not None:
            quantized = {**quantized, **self._compensated(start, plan.compensation.sentences)}
        parameters = dict(self.network.named_parameters())
        # Before trainers replace weights by quantized ones, of which more may be zero.
        self.prunings: list[TrainedPruning] = []
        if plan.pruning or plan.sparse:
            self.prunings = make_prunings(plan.pruning, plan.sparse, parameters, plan.updates)
        self.trainers = {
            name: parameter_trainer(plan.retraining, name, groups, parameters, quantized.get(name))
            for name, groups in self.groups.items()
        }
        # Trainers of the matrices that are quantized from this stage on.
        self.new = [trainer for name, trainer in self.trainers.items() if name not in start.quantized]
        if plan.retraining is not None:
            self.loop = self._loop(plan.retraining)

    def _build(self, state: Mapping[str, Tensor], with_dropout: bool = True) -> TranslationNetwork:
        """Return a network with the stage's quantized activations, of the sizes of the weights in `state`."""
        architecture = self.context.architecture
        if self.context.prunes_units:
            architecture = architecture_of(architecture, state)
        scale = 1.0 if self.plan.retraining is None else self.plan.retraining.dropout_scale
        dropouts = make_dropouts(self.context.defaults.model, scale) if with_dropout else None
        return quantizing_network(architecture, self.plan, state, dropouts)

    @property
    def _corpus(self) -> Corpus:
        assert self.context.texts.corpus is not None
        return self.context.texts.corpus

    def _calibrate(self) -> None:
        """Find the static scales of activations that meet the matrices that are new in this stage."""
        if isinstance(self.plan.input_quantization, StaticActivations):
            pairs = sample_pairs(self._corpus, self.plan.input_quantization.sentences, self.context.seed)
            calibrate(self.network, self.plan.input_quantization, list(self.plan.matrices), pairs)

    def _compensated(self, start: StageResult, sentences: int) -> dict[str, QuantizedMatrix]:
        """Return the matrices that this stage quantizes, with error compensation on some sentences."""
        pairs = sample_pairs(self._corpus, sentences, self.context.seed)
        # With the scales of activations that have just been calibrated: inputs are as the layer will see them.
        state = {**decoded_weights(start.weights, start.quantized, self.groups), **_ranges(self.network)}
        network = self._build(state)
        new = {name: each for name, each in self.groups.items() if name not in start.quantized and not each[0].vectors}
        return compensate(network.to(self.context.fabric.device), new, pairs)

    def _loop(self, retraining: Retraining) -> TrainingLoop[Batch]:
        """Return the training loop."""
        context, defaults = self.context, self.context.defaults.training
        estimation = self.plan.estimation
        delay = 0 if estimation is None else estimation.delay
        hooks: list[Hook] = [*self.trainers.values(), *self.prunings]
        if self.plan.activations is not None:
            hooks.insert(0, DelayedQuantization(self.network, self.new, delay))
        learnable = [parameter for hook in hooks for parameter in hook.learnable_parameters()]
        model, optimizer = context.fabric.setup(self.network, make_optimizer([*self.network.parameters(), *learnable]))
        smoothing = retraining.label_smoothing
        mixed = retraining.precision == "bfloat16-mixed"
        by_probabilities = retraining.objective not in ("references", "sequence_distillation")
        objective = TranslationObjective(
            model=model,
            network=self.network,
            smoothing=defaults.label_smoothing if smoothing is None else smoothing,
            teacher=context.make_teacher() if by_probabilities else None,
            cross_entropy_weight=retraining.cross_entropy_weight if retraining.objective == "mixed" else 0.0,
            autocast=partial(torch.autocast, context.fabric.device.type, torch.bfloat16, enabled=mixed),
        )
        rate = retraining.learning_rate
        settings = LoopSettings(
            updates=retraining.updates,
            seed=context.stage_seed(self.progress.stage),
            rate=lambda update: stage_rate(
                rate.schedule, update, retraining.updates, rate.rate, rate.warmup_updates, rate.constant_updates
            ),
            clip_norm=retraining.clip_norm or defaults.clip_norm,
            validate_every=retraining.validate_every,
            # As soon as there are ranges, so that a stage that diverges afterwards leaves a result.
            validate_at=None if estimation is None else max(delay, 1),
            checkpoint_every=retraining.checkpoint_every,
        )
        return TrainingLoop(
            fabric=context.fabric,
            model=model,
            optimizer=optimizer,
            objective=objective,
            batches=partial(self._batches, retraining),
            settings=settings,
            hooks=hooks,
            progress=self.progress,
            reporter=context.reporter,
        )

    def _batches(self, retraining: Retraining, epoch: int, done: int) -> Iterator[tuple[list[Batch], int, int]]:
        context, texts = self.context, self.context.texts
        from_translations = texts.translations is not None and retraining.objective in SEQUENCE_OBJECTIVES
        pairs = texts.translations.training if from_translations and texts.translations else self._corpus.training
        tokens = retraining.batch_tokens or context.defaults.training.batch_tokens
        order = (context.seed * 1_000_003 + self.progress.stage + 1) * 10_007 + epoch
        together = context.defaults.training.batches_per_update
        try:
            yield from share_of_epoch(context.fabric, context.architecture, pairs, tokens, order, done, together)
        except DataError as error:
            raise DataError(f"stages[{self.progress.stage}].retraining: {error}") from error

    def load(self, state: dict[str, Any]) -> None:
        """Restore a checkpoint of this stage."""
        self.network.load_state_dict(state["weights"])
        for name, trainer in self.trainers.items():
            trainer.load_state(state["methods"][name])
        for pruning, saved in zip(self.prunings, state.get("prunings", []), strict=True):
            pruning.load_state(saved)
        if self.plan.retraining is not None:
            self.loop.optimizer.load_state_dict(state["optimizer"])

    def go(self) -> None:
        """Run the stage to its end; its result is then in its file."""
        if self.progress.update < 0:
            if self.plan.prunes_nodes:
                self._report_sizes(self.network.state_dict())
            if self.plan.estimation is None:
                self.validate()
            self.progress.update = 0
            self.save()
        if self.plan.retraining is None:
            self._try_ranges()
            return
        try:
            self.loop.train(self)
        except DivergedError:
            self._give_up()

    def finished(self) -> bool:
        """Return whether all updates of the stage are done."""
        return self.progress.update >= self.plan.updates

    def _report_sizes(self, weights: Mapping[str, Tensor]) -> None:
        sizes = pruned_sizes(self.context.architecture, weights)
        self.context.reporter.event("pruned", max(self.progress.update, 0), name=self.plan.name, **sizes)

    def _try_ranges(self) -> None:
        """Estimate the activations' ranges several times with quantized weights; the best estimates are kept.

        Each trial is saved, so that an interrupted run resumes at the next one.
        """
        context, progress, estimation = self.context, self.progress, self.plan.estimation
        if estimation is None:
            return
        for trial in range(progress.trial, estimation.trials):
            if context.fabric.is_global_zero:
                weights: dict[str, Tensor] = dict(self.network.named_parameters())
                network = self._build(decoded_weights(weights, self._quantized(), self.groups))
                network.to(context.fabric.device)
                tokens = context.defaults.training.batch_tokens
                seed = context.stage_seed(progress.stage) * 1_009 + trial
                estimate_ranges(network, context.fabric, self._corpus.training, tokens, estimation.batches, seed)
                self.network.load_state_dict(_ranges(network), strict=False)
            self.validate(trial=trial)
            progress.trial = trial + 1
            self.save()

    def _give_up(self) -> None:
        """End a stage that diverged with its best validation; raises DivergedError where there was none."""
        if self.progress.best_loss is None and not self.context.result_file(self.progress.stage).exists():
            raise DivergedError(
                f"stage {self.plan.name} diverged at update {self.progress.update}, before its first validation: lower "
                "its learning rate, or warm it up longer"
            )
        self.context.reporter.event("diverged", self.progress.update)
        self.progress.update = self.plan.updates
        self.save()

    def _quantized(self) -> dict[str, QuantizedMatrix]:
        return {name: trainer.quantized() for name, trainer in self.trainers.items()}

    def validate(self, **about: int) -> None:
        """Score the network as it would be stored, and keep it where its loss is the lowest so far.

        One process does it for all. BLEU is only reported: of a few thousand greedy translations it is too noisy to
        choose by. A network that is not yet pruned as far as the stage prunes it is never kept. One that is not yet
        retrained is replaced by any later one if the recipe says so.
        """
        progress, reporter = self.progress, self.context.reporter
        best = progress.best_loss
        if self.context.fabric.is_global_zero:
            update = max(progress.update, 0)
            settled = all(pruning.settled(update) for pruning in self.prunings)
            quantized = self._quantized()
            scores: dict[str, float] = {}
            if self.context.texts.corpus is not None:
                decoded = decoded_weights(self.network.state_dict(), quantized, self.groups)
                scores = self._scores(self._cut(decoded) if self.prunings and settled else decoded)
                logged = {name: value if math.isfinite(value) else None for name, value in scores.items()}
                reporter.event("validation", update, name=self.plan.name, **about, **logged)  # JSON has no infinity.
            # The teacher's translations are not the references: a model that learns them moves away from these.
            loss = scores.get("distillation_loss", scores.get("loss", math.inf))
            if settled and (best is None or loss < best):
                self._keep(quantized, scores | about | {"stage": progress.stage, "update": update})
                best = loss if update > self._unkept_updates() else None
        progress.best_loss = self.context.fabric.broadcast(best)

    def _unkept_updates(self) -> int:
        """Return the update up to which a network is the result only if there is no later one; -1: none is."""
        if self.plan.retraining is None or self.plan.retraining.keep_start:
            return -1
        return 0 if self.plan.estimation is None else self.plan.estimation.delay

    def _scores(self, weights: Mapping[str, Tensor]) -> dict[str, float]:
        network = self._build(weights, with_dropout=False).to(self.context.fabric.device)
        translations, tokens = self.context.texts.translations, self.context.defaults.training.batch_tokens * 4
        validation = validate(network, self._corpus, tokens)
        bleu = "agreement_bleu" if self.context.texts.scored_on_translations else "bleu"
        scores = {"loss": validation.loss, bleu: validation.bleu}
        if translations is not None and self.plan.learns_from_translations:
            corpus = dataclasses.replace(self._corpus, validation=translations.validation)
            scores["distillation_loss"] = validation_loss(network, corpus, tokens)
        # A network that computes NaN is worse than any other.
        return {name: value if math.isfinite(value) else math.inf for name, value in scores.items()}

    def _cut(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return weights without what the stage's retraining has pruned."""
        cuts = {name: cut for pruning in self.prunings for name, cut in pruning.cuts().items()}
        return {name: cuts[name].of(weight) if name in cuts else weight for name, weight in weights.items()}

    def _keep(self, quantized: dict[str, QuantizedMatrix], scores: dict[str, float]) -> None:
        """Save the network as the stage's result."""
        weights = {name: tensor.detach().cpu().clone() for name, tensor in self.network.named_parameters()}
        for name, trainer in self.trainers.items():
            of_trainer = by_parameter(name, self.groups[name], trainer.full_precision())
            weights |= {parameter: weight.cpu().clone() for parameter, weight in of_trainer.items()}
        if any(pruning.cuts() for pruning in self.prunings):
            weights = self._cut(weights)
            self._report_sizes(weights)
        corpus = self.context.texts.corpus
        tokenization = WORDS if corpus is None else bleu_tokenization(corpus.validation_references)
        result = StageResult(weights, quantized, scores, _ranges(self.network), tokenization)
        result.save(self.context.result_file(self.progress.stage))

    def save(self) -> None:
        """Save a checkpoint."""
        context = self.context
        if context.fabric.is_global_zero:
            state = {
                "position": dataclasses.asdict(self.progress),
                "weights": self.network.state_dict(),
                "methods": {name: trainer.state() for name, trainer in self.trainers.items()},
                "prunings": [pruning.state() for pruning in self.prunings],
                "optimizer": self.loop.optimizer.state_dict() if self.plan.retraining is not None else None,
            }
            save_checkpoint(context.folder / "checkpoint.pt", state)
        context.fabric.barrier()


def sample_pairs(corpus: Corpus, sentences: int, seed: int) -> list[Pair]:
    """Return sentences of the training text, drawn by a seed; all if there are fewer."""
    pairs = corpus.training
    return random.Random(seed).sample(pairs, min(sentences, len(pairs)))


def _ranges(network: TranslationNetwork) -> Weights:
    """Return what a network's state has besides its parameters: the ranges of quantized activations, copied."""
    parameters = dict(network.named_parameters())
    state = network.state_dict()
    return {name: tensor.detach().cpu().clone() for name, tensor in state.items() if name not in parameters}
