"""Hugging Face folders of tiny random models, written by transformers."""

import json
import random
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.interop.toy_text import SOURCE_LINES, TARGET_LINES, pieces_of, sentencepiece_model

# Its functions have no types.
quiet: Any = transformers.utils.logging
quiet.set_verbosity_error()
quiet.disable_progress_bar()

SMALL: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "scale_embedding": True,
    "init_std": 0.4,
}

# Ids of the special pieces, as fairseq has them.
FAIRSEQ = {"bos_id": 1, "eos_id": 2, "unk_id": 0, "model_type": "bpe"}
SPECIAL = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}


def write_marian(folder: Path, separate: bool = False, **changes: Any) -> Any:
    """Write a model with two SentencePiece models, and tables of ids that are not theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    models = {"source.spm": sentencepiece_model(SOURCE_LINES, 60), "target.spm": sentencepiece_model(TARGET_LINES, 50)}
    for name, model in models.items():
        (folder / name).write_bytes(model)
    source, target = (pieces_of(model) for model in models.values())
    if separate:
        # transformers has one id of padding for both sides.
        size = max(len(source), len(target))
        tables = [shuffled(side + [f"surplus{n}" for n in range(size - len(side))]) for side in (source, target)]
    else:
        # As OPUS-MT's, the joint table lacks a piece that a SentencePiece model has.
        tables = [shuffled([piece for piece in dict.fromkeys(source + target + [">>deu<<"]) if piece != "▁red"])]
    for name, table in zip(("vocab.json", "target_vocab.json"), tables, strict=False):
        (folder / name).write_text(json.dumps(table, ensure_ascii=False), encoding="utf-8")
    settings = {"source_lang": "en", "target_lang": "de", "separate_vocabs": separate}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"tokenizer_class": "MarianTokenizer"}))
    eos, pad = tables[-1]["</s>"], tables[-1]["<pad>"]
    configuration = transformers.MarianConfig(
        **SMALL
        | {
            "vocab_size": len(tables[0]),
            "decoder_vocab_size": len(tables[-1]),
            "share_encoder_decoder_embeddings": not separate,
            "activation_function": "swish",
            "eos_token_id": eos,
            "forced_eos_token_id": eos,
            "pad_token_id": pad,
            "decoder_start_token_id": pad,
            "max_position_embeddings": 64,
        }
        | changes
    )
    model = randomized(transformers.MarianMTModel(configuration))
    model.generation_config.bad_words_ids = [[pad]]
    model.save_pretrained(folder)
    return model


def write_model(folder: Path, size: int) -> Any:
    """Write the network of M2M100, which NLLB has, too, with a vocabulary of a size."""
    configuration = transformers.M2M100Config(**SMALL | {"vocab_size": size, "max_position_embeddings": 64})
    model = randomized(transformers.M2M100ForConditionalGeneration(configuration))
    model.save_pretrained(folder)
    return model


def write_nllb(folder: Path) -> tuple[Any, dict[str, int]]:
    """Write a folder as the original ones are; returns the model, and the ids of its languages."""
    folder.mkdir(parents=True)
    model = sentencepiece_model(SOURCE_LINES + TARGET_LINES, 90, **FAIRSEQ)
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    pieces = len(pieces_of(model))
    languages = {"eng_Latn": pieces + 1, "deu_Latn": pieces + 2}
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": list(languages)}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "NllbTokenizer"}))
    return write_model(folder, pieces + 6), languages


def write_m2m100(folder: Path) -> tuple[Any, dict[str, int]]:
    """Write a folder as the original ones are; returns the model, and the ids of its languages."""
    folder.mkdir(parents=True)
    model = sentencepiece_model(SOURCE_LINES + TARGET_LINES, 90, **FAIRSEQ)
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    # In another order than SentencePiece's, and without one piece.
    pieces = [*SPECIAL, *sorted(pieces_of(model)[3:-1])]
    (folder / "vocab.json").write_text(json.dumps({piece: id for id, piece in enumerate(pieces)}), encoding="utf-8")
    languages = {"en": len(pieces), "de": len(pieces) + 1}
    named = [f"__{code}__" for code in languages]
    (folder / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": named}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "M2M100Tokenizer"}))
    return write_model(folder, len(pieces) + 8), languages


def randomized(model: Any) -> Any:
    """Give biases and norms random values, too, so that the place of each is tested."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(0.2 * torch.randn_like(parameter))
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_()
            model.final_logits_bias[0, model.config.pad_token_id] = 0
    return model.eval()


def shuffled(pieces: list[str]) -> dict[str, int]:
    """Return ids of pieces in another order, with <pad> as the last one."""
    order = list(pieces)
    random.Random(1).shuffle(order)
    return {piece: id for id, piece in enumerate([*order, "<pad>"])}


def tokenizer_of(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It recommends a package that it does not use.
        return transformers.AutoTokenizer.from_pretrained(folder)
