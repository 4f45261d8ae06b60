"""One stage of a recipe: the updates of its retraining, validated on quantized weights, saved so that it can resume."""

import dataclasses
import math
import random
from typing import Any

import torch
from torch import Tensor

from pocketmt.models.network import TranslationNetwork
from pocketmt.models.networks import make_network
from pocketmt.quantization.static_activations import StaticActivations
from pocketmt.recipes.activations.estimation import Estimation, estimate_ranges
from pocketmt.recipes.activations.fully_quantized import set_stage
from pocketmt.recipes.activations.products import calibrate
from pocketmt.recipes.description.plan import PlannedStage
from pocketmt.recipes.description.pruning import FeedForwardNodes
from pocketmt.recipes.description.schema import SEQUENCE_OBJECTIVES, Retraining
from pocketmt.recipes.pruning.sublayers import pruned_sizes
from pocketmt.recipes.pruning.training import make_prunings
from pocketmt.recipes.retraining.compensation import compensate
from pocketmt.recipes.retraining.methods import Method
from pocketmt.recipes.retraining.networks import multiplied_matrices, quantizing_network
from pocketmt.recipes.retraining.outcome import Outcome, decoded_weights
from pocketmt.recipes.retraining.setting import Position, Setting, best_file, piece_counts, row_groups
from pocketmt.recipes.row_groups import QuantizedMatrix
from pocketmt.recipes.vectors import by_parameter, parameter_method
from pocketmt.training.checkpoints import save_checkpoint
from pocketmt.training.data import Batch, Pair
from pocketmt.training.objectives import taught_loss
from pocketmt.training.progress import LOG_EVERY
from pocketmt.training.schedule import stage_rate
from pocketmt.training.steps import (
    DivergedError,
    backward,
    make_dropouts,
    make_optimizer,
    seed_update,
    share_of_epoch,
    step,
)
from pocketmt.training.validation import validate, validation_loss


def _ranges(network: TranslationNetwork) -> dict[str, Tensor]:
    """Return what a network's state has beside its parameters: the ranges of quantized activations, copied."""
    parameters = dict(network.named_parameters())
    state = network.state_dict()
    return {name: tensor.detach().cpu().clone() for name, tensor in state.items() if name not in parameters}


class StageRun:
    """One process's share of one stage."""

    def __init__(self, setting: Setting, plan: PlannedStage, start: Outcome, position: Position) -> None:
        """Build the network from what the stage before left, and quantize its matrices."""
        self.setting = setting
        self.corpus = setting.texts.corpus
        self.plan = plan
        self.position = position
        self.retraining = plan.retraining
        self.network = self._quantizing_network({**start.weights, **start.ranges})
        self.groups = row_groups(plan, piece_counts(self.corpus, setting.model.architecture.vocabulary_size))
        self.network.to(setting.fabric.device)
        self._calibrate()
        self.earlier = start.quantized.keys()  # matrices that no delay concerns
        quantized = {**start.quantized, **self._compensated(start)}
        parameters = dict(self.network.named_parameters())
        # Before methods put weights on a grid, where more of them may be zero.
        self.prunings = make_prunings(plan, parameters)
        self.methods: dict[str, Method] = {
            name: parameter_method(plan.retraining, name, groups, parameters, quantized.get(name))
            for name, groups in self.groups.items()
        }
        if self.retraining is not None:
            trained = [parameter for method in self.methods.values() for parameter in method.trained()]
            optimizer = make_optimizer([*parameters.values(), *trained])
            self.model, self.optimizer = setting.fabric.setup(self.network, optimizer)
            self.teacher = self._teacher(self.retraining)
            self.pairs = self._pairs()

    def _quantizing_network(self, state: dict[str, Tensor], with_dropout: bool = True) -> TranslationNetwork:
        """Return a network with the stage's quantized activations and products, of the sizes that its weights have."""
        scale = 1.0 if self.retraining is None else self.retraining.dropout_scale
        dropouts = make_dropouts(self.setting.settings.model, scale) if with_dropout else None
        return quantizing_network(self.setting.model.architecture, self.plan, state, dropouts)

    def _calibrate(self) -> None:
        """Find the scales of the activations that meet what is new in this stage, where they are static [E6]."""
        if not isinstance(self.plan.products, StaticActivations):
            return
        assert self.corpus is not None
        pairs = self._drawn(self.plan.products.sentences)
        calibrate(self.network, self.plan.products, multiplied_matrices(self.plan), pairs)

    def _drawn(self, sentences: int) -> list[Pair]:
        """Return some sentences of the training text, drawn by the recipe's seed."""
        assert self.corpus is not None
        pairs = self.corpus.training
        return random.Random(self.setting.seed).sample(pairs, min(sentences, len(pairs)))

    def _compensated(self, start: Outcome) -> dict[str, QuantizedMatrix]:
        """Return the matrices that this stage quantizes with error compensation, if it does."""
        settings = self.plan.compensation
        if settings is None:
            return {}
        chosen = self._drawn(settings.sentences)
        # With the scales of activations that were calibrated just before: inputs are as the layer will see them.
        state = {**decoded_weights(start.weights, start.quantized, self.groups), **_ranges(self.network)}
        network = self._quantizing_network(state)
        new = {name: each for name, each in self.groups.items() if name not in start.quantized and not each[0].vectors}
        return compensate(network.to(self.setting.fabric.device), new, chosen)

    def _teacher(self, retraining: Retraining) -> TranslationNetwork | None:
        """Return the uncompressed model where it teaches."""
        if retraining.objective in ("references", "sequence_distillation"):
            return None
        teacher = make_network(self.setting.model.architecture)
        teacher.load_state_dict(self.setting.model.weights)
        return teacher.to(self.setting.fabric.device).eval().requires_grad_(False)

    def _learns_from_translations(self) -> bool:
        return self.retraining is not None and self.retraining.objective in SEQUENCE_OBJECTIVES

    def _pairs(self) -> list[Pair]:
        """Return the text that the stage is trained on."""
        corpus, taught = self.corpus, self.setting.texts.taught
        assert corpus is not None
        return taught.training if taught is not None and self._learns_from_translations() else corpus.training

    def load(self, state: dict[str, Any]) -> None:
        """Take up a checkpoint of this stage."""
        self.network.load_state_dict(state["weights"])
        for name, method in self.methods.items():
            method.load_state(state["methods"][name])
        for pruning, saved in zip(self.prunings, state.get("prunings", []), strict=True):
            pruning.load_state(saved)
        if self.retraining is not None:
            self.optimizer.load_state_dict(state["optimizer"])

    def go(self) -> None:
        """Run the stage to its end; its outcome is in `best_file`."""
        if self.position.update < 0:
            if any(isinstance(entry.settings, FeedForwardNodes) for entry in self.plan.pruning):
                self._report_sizes(self.network.state_dict())
            if self.plan.estimation is None:
                self._validate()
            self.position.update = 0
            self._save()
        if self.plan.estimation is not None and self.retraining is None:
            self._try_ranges(self.plan.estimation)
        while self.retraining is not None and self.position.update < self.retraining.updates:
            self._train_epoch(self.retraining)

    def _report_sizes(self, weights: dict[str, Tensor]) -> None:
        sizes = pruned_sizes(self.setting.model.architecture, weights)
        update = max(self.position.update, 0)
        self.setting.reporter.event("pruned", update, stage=self.position.stage, name=self.plan.name, **sizes)

    def _try_ranges(self, estimation: Estimation) -> None:
        """Estimate the activations' ranges several times, weights being on their grid; the best are kept [Q5].

        Each trial is saved when it is done: a run that is stopped goes on at the one that it was at.
        """
        setting, position = self.setting, self.position
        assert self.corpus is not None
        for trial in range(position.trial, estimation.trials):
            if setting.fabric.is_global_zero:
                quantized = {name: method.quantized() for name, method in self.methods.items()}
                weights: dict[str, Tensor] = dict(self.network.named_parameters())
                network = self._quantizing_network(decoded_weights(weights, quantized, self.groups))
                network.to(setting.fabric.device)
                tokens = setting.settings.training.batch_tokens
                seed = ((setting.seed * 1_009 + position.stage + 1) * 1_009) + trial
                estimate_ranges(network, setting.fabric, self.corpus.training, tokens, estimation.batches, seed)
                self.network.load_state_dict(_ranges(network), strict=False)
            self._validate(trial=trial)
            position.trial = trial + 1
            self._save()

    def _train_epoch(self, retraining: Retraining) -> None:
        """Train on what is left of the epoch, or until the stage is finished."""
        setting, position = self.setting, self.position
        tokens = retraining.batch_tokens or setting.settings.training.batch_tokens
        order = (setting.seed * 1_000_003 + position.stage + 1) * 10_007 + position.epoch
        shares = share_of_epoch(setting.fabric, self.pairs, tokens, order, position.batch)
        for batch, total_tokens, done in shares:
            position.batch = done
            try:
                loss = self._update(retraining, batch, total_tokens)
            except DivergedError:
                self._give_up(retraining)
                return
            self._after_update(retraining, loss)
            if position.update >= retraining.updates:
                return
        position.epoch += 1
        position.batch = 0

    def _update(self, retraining: Retraining, batch: Batch, total_tokens: int) -> float:
        """One optimizer step; returns the objective in nats a token of this process's batch."""
        fabric, position, training = self.setting.fabric, self.position, self.setting.settings.training
        position.update += 1
        seed_update(fabric, self.setting.seed * 1_009 + position.stage + 1, position.update)
        delayed = self._delayed()
        set_stage(self.network, observing=True, quantizing=not delayed)
        acting = [method for name, method in self.methods.items() if not delayed or name in self.earlier]
        for method in acting:
            method.before_forward()
        loss = self._loss(retraining, batch)
        # Each process adds its share of what all have once.
        penalty = sum((pruning.penalty() for pruning in self.prunings), loss.new_zeros(())) / fabric.world_size
        backward(fabric, loss + penalty, total_tokens)
        for method in acting:
            method.after_backward()
        for pruning in self.prunings:
            pruning.after_backward()
        step(fabric, self.model, self.optimizer, self._rate(retraining), retraining.clip_norm or training.clip_norm)
        for pruning in self.prunings:
            pruning.after_step(position.update)
        for method in self.methods.values():
            method.after_step(position.update)
        return loss.item() / batch.target_tokens

    def _delayed(self) -> bool:
        """Return whether ranges are still estimated before what is new in this stage is quantized [Q5]."""
        return self.plan.estimation is not None and self.position.update <= self.plan.estimation.delay

    def _loss(self, retraining: Retraining, batch: Batch) -> Tensor:
        """Return the objective, summed over the batch's target tokens, in nats."""
        smoothing = retraining.label_smoothing
        if smoothing is None:
            smoothing = self.setting.settings.training.label_smoothing
        share = retraining.references_share if retraining.objective == "mixed" else 0.0
        mixed = retraining.precision == "bfloat16-mixed"
        with torch.autocast(self.setting.fabric.device.type, torch.bfloat16, enabled=mixed):
            return taught_loss(self.model, self.network.embedding.weight, batch, smoothing, self.teacher, share)

    def _rate(self, retraining: Retraining) -> float:
        rate = retraining.learning_rate
        return stage_rate(
            rate.schedule,
            self.position.update,
            retraining.updates,
            rate.rate,
            rate.warmup_updates,
            rate.constant_updates,
        )

    def _after_update(self, retraining: Retraining, loss: float) -> None:
        """Log, validate and save where it is time."""
        position, reporter = self.position, self.setting.reporter
        update = position.update
        if update % LOG_EVERY == 0:
            rate = self._rate(retraining)
            reporter.event("train", update, stage=position.stage, epoch=position.epoch, loss=loss, learning_rate=rate)
        reporter.advance(update, loss)
        validating = update % retraining.validate_every == 0 or update == retraining.updates
        if self.plan.estimation is not None:  # as soon as ranges are there, so that what diverges leaves an outcome
            validating = validating or update == max(self.plan.estimation.delay, 1)
        if validating:
            self._validate()
        if validating or update % retraining.checkpoint_every == 0:
            self._save()

    def _give_up(self, retraining: Retraining) -> None:
        """End a stage that diverged: its best validation stands; where there is none, DivergedError is raised."""
        if self.position.best_loss is None:
            raise DivergedError(
                f"stage {self.plan.name} diverged at update {self.position.update}, before its first validation: lower "
                "its learning rate, or warm it up longer"
            )
        self.setting.reporter.event("diverged", self.position.update, stage=self.position.stage)
        self.position.update = retraining.updates
        self._save()

    def _validate(self, **about: int) -> None:
        """Score the network as it would be stored, and keep it where its loss is the least so far; one process for all.

        BLEU is reported: of a few thousand greedy translations it is too noisy to tell validations apart. What is not
        pruned as far as the stage shall prune it is no outcome, however good it is.
        """
        position, setting = self.position, self.setting
        best = position.best_loss
        if setting.fabric.is_global_zero:
            update = max(position.update, 0)
            settled = all(pruning.settled(update) for pruning in self.prunings)
            quantized = {name: method.quantized() for name, method in self.methods.items()}
            scores: dict[str, float] = {}
            if self.corpus is not None:
                decoded = decoded_weights(self.network.state_dict(), quantized, self.groups)
                scores = self._scores(self._cut(decoded) if settled else decoded)
                reported = {"stage": position.stage, "name": self.plan.name, **about, **scores}
                setting.reporter.event("validation", update, **reported)
            # The teacher's own words are not the references': who learns them moves away from these.
            loss = scores.get("distillation_loss", scores.get("loss", math.inf))
            if settled and (best is None or loss < best):
                self._keep(quantized, scores | about | {"stage": position.stage, "update": update})
                best = loss
        position.best_loss = setting.fabric.broadcast(best)

    def _cut(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return weights without what the stage's retraining has pruned."""
        cuts = {name: cut for pruning in self.prunings for name, cut in pruning.cuts().items()}
        return {name: cuts[name].of(weight) if name in cuts else weight for name, weight in weights.items()}

    def _keep(self, quantized: dict[str, QuantizedMatrix], scores: dict[str, float]) -> None:
        """Save the network as the stage's best."""
        weights = {name: tensor.detach().cpu().clone() for name, tensor in self.network.named_parameters()}
        for name, method in self.methods.items():
            of_method = by_parameter(name, self.groups[name], method.full_precision())
            weights |= {parameter: weight.cpu().clone() for parameter, weight in of_method.items()}
        if any(pruning.cuts() for pruning in self.prunings):
            weights = self._cut(weights)
            self._report_sizes(weights)
        outcome = Outcome(weights, quantized, scores, _ranges(self.network))
        outcome.save(best_file(self.setting.folder, self.position.stage))

    def _scores(self, weights: dict[str, Tensor]) -> dict[str, float]:
        assert self.corpus is not None
        network = self._quantizing_network(weights, with_dropout=False).to(self.setting.fabric.device)
        taught, tokens = self.setting.texts.taught, self.setting.settings.training.batch_tokens * 4
        validation = validate(network, self.corpus, tokens)
        scores = {"loss": validation.loss, "bleu": validation.bleu}
        if taught is not None and self._learns_from_translations():
            translations = dataclasses.replace(self.corpus, validation=taught.validation)
            scores["distillation_loss"] = validation_loss(network, translations, tokens)
        # A network that computes NaN is worse than any other.
        return {name: value if math.isfinite(value) else math.inf for name, value in scores.items()}

    def _save(self) -> None:
        """Save what is needed to go on from here."""
        setting, position = self.setting, self.position
        if setting.fabric.is_global_zero:
            state = {
                "position": dataclasses.asdict(position),
                "weights": self.network.state_dict(),
                "methods": {name: method.state() for name, method in self.methods.items()},
                "prunings": [pruning.state() for pruning in self.prunings],
                "optimizer": self.optimizer.state_dict() if self.retraining is not None else None,
            }
            save_checkpoint(setting.folder / "checkpoint.pt", state)
        setting.fabric.barrier()
