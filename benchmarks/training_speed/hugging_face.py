"""Hugging Face's trainer with a Marian network of our weights, on our batches."""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from benchmarks.peer.piece_list import made_up_vocabulary
from benchmarks.training_speed.plan import Clock, TrainingPlan
from pocketmt.interop.exporting import write_folder
from pocketmt.interop.formats import FORMATS
from pocketmt.model_file import Architecture, open_model
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.models.inputs import PADDING
from pocketmt.packing.contents import ModelContents
from pocketmt.packing.foreign import foreign_model_of
from pocketmt.packing.model_file import pack
from pocketmt.text.batching import make_batches
from pocketmt.training.data import Batch, Pair, make_batch

_IGNORED = -100  # Hugging Face's label of padding.


def train_theirs(
    architecture: Architecture,
    weights: Mapping[str, Tensor],
    pairs: Sequence[Pair],
    plan: TrainingPlan,
    precision: str,
    compiled: bool,
    folder: Path,
) -> tuple[list[float], float]:
    """Train by Hugging Face's trainer; returns the loss of each update and target tokens a second."""
    transformers: Any = importlib.import_module("transformers")
    model = _model(transformers, architecture, weights, plan, folder)
    plans = make_batches([(len(a) + 1, len(b) + 1) for a, b in pairs], plan.batch_tokens, plan.seed)[: plan.updates]
    batches = [make_batch([pairs[index] for index in each], architecture, "cpu") for each in plans]
    return _train(transformers, model, batches, plan, precision, compiled, folder)


def _model(
    transformers: Any, architecture: Architecture, weights: Mapping[str, Tensor], plan: TrainingPlan, folder: Path
) -> Any:
    """Return Hugging Face's network, with our weights."""
    exported = folder / "hugging-face"
    if not exported.exists():
        path = folder / "model.pocketmt"
        about = ModelMetadata(source_language="en", target_language="de")
        vocabulary = made_up_vocabulary(plan.vocabulary)
        pack(path, ModelContents(dict(weights), architecture, vocabulary, "float32", about))
        with open_model(path) as file:
            write_folder(foreign_model_of(file), FORMATS["hugging-face"], exported)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(plan.seed)
    rates = {"dropout": plan.dropout, "attention_dropout": 0.0, "activation_dropout": 0.0}
    return transformers.MarianMTModel.from_pretrained(exported, attn_implementation="sdpa", **rates)


def _inputs(batch: Batch, pad: int) -> dict[str, Tensor]:
    """Return a batch with the names and the padding of Hugging Face."""
    real = batch.source != PADDING
    return {
        "input_ids": batch.source.masked_fill(~real, pad),
        "attention_mask": real.long(),
        "decoder_input_ids": batch.target_inputs.masked_fill(batch.target_inputs == PADDING, pad),
        "labels": batch.targets.masked_fill(batch.targets == PADDING, _IGNORED),
    }


def _train(
    transformers: Any,
    model: Any,
    batches: Sequence[Batch],
    plan: TrainingPlan,
    precision: str,
    compiled: bool,
    folder: Path,
) -> tuple[list[float], float]:
    clock = Clock(plan)
    losses: list[Tensor] = []

    class Trainer(transformers.Trainer):  # type: ignore[misc]
        """Takes the batches as they are, and keeps the losses."""

        def get_train_dataloader(self) -> Any:
            return DataLoader(self.train_dataset, batch_size=None)

        def training_step(self, *arguments: Any, **options: Any) -> Any:
            loss = super().training_step(*arguments, **options)
            losses.append(loss.detach())
            return loss

    class AtEndOfUpdate(transformers.TrainerCallback):  # type: ignore[misc]
        """Starts the clock after the warm-up."""

        def on_step_end(self, arguments: Any, state: Any, control: Any, **others: Any) -> None:
            clock.advance(state.global_step, 0.0)

    settings = transformers.TrainingArguments(
        output_dir=str(folder / "trainer"),
        max_steps=plan.updates,
        learning_rate=plan.rate,
        lr_scheduler_type="constant",
        optim="adamw_torch_fused",
        weight_decay=0.0,
        adam_beta1=0.9,
        adam_beta2=0.98,
        adam_epsilon=1e-9,
        max_grad_norm=1.0,
        bf16=precision == "bfloat16-mixed",
        torch_compile=compiled,
        use_cpu=plan.device != "cuda",
        seed=plan.seed,
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    data = [_inputs(batch, model.config.pad_token_id) for batch in batches]
    trainer = Trainer(model=model, args=settings, train_dataset=data, callbacks=[AtEndOfUpdate()])
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    seconds = clock.now() - clock.began
    return torch.stack(losses).tolist(), sum(batch.target_tokens for batch in batches[plan.warm_up :]) / seconds
