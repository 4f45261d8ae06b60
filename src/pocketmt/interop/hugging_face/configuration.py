"""The configuration of a Hugging Face folder: every key is read, known to change nothing, or refused by name."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pocketmt.errors import InteropError
from pocketmt.interop.hugging_face.json_file import read_json

# Keys about training, search, other tasks or the program; no weight is used differently because of them.
_WITHOUT_EFFECT: Final = {
    *("_name_or_path", "_num_labels", "architectures", "attention_dropout", "activation_dropout", "dropout"),
    *("classif_dropout", "classifier_dropout", "decoder_layerdrop", "encoder_layerdrop", "init_std", "dtype"),
    *("torch_dtype", "transformers_version", "use_cache", "use_bfloat16", "gradient_checkpointing", "id2label"),
    *("label2id", "max_length", "max_new_tokens", "max_position_embeddings", "early_stopping"),
    *("num_return_sequences", "num_hidden_layers", "return_dict"),
    *("output_attentions", "output_hidden_states", "output_scores", "torchscript", "xla_device"),
    *("task_specific_params", "tf_legacy_loss", "finetuning_task", "problem_type", "prefix", "top_k", "top_p"),
    *("temperature", "typical_p", "epsilon_cutoff", "eta_cutoff", "remove_invalid_values", "is_decoder"),
    *("add_cross_attention", "bos_token_id", "sep_token_id", "_from_model_config", "_commit_hash"),
    *("transformers.js_config", "renormalize_logits", "forced_eos_token_id", "chunk_size_feed_forward"),
    *("_attn_implementation", "output_past", "author", "licence", "license", "model_type"),
    "extra_pos_embeddings",  # rows before those of learned positions
}
# Keys whose other values make another search.
_SEARCH: Final[Mapping[str, tuple[object, ...]]] = {
    "do_sample": (False,),
    "min_length": (0,),
    "no_repeat_ngram_size": (0,),
    "encoder_no_repeat_ngram_size": (0,),
    "repetition_penalty": (1.0, 1),
    "diversity_penalty": (0.0, 0),
    "num_beam_groups": (1,),
    "suppress_tokens": ([],),
    "begin_suppress_tokens": ([],),
    "exponential_decay_length_penalty": (),
}
# Keys whose other values make another network, or another search.
_ONLY: Final[Mapping[str, tuple[object, ...]]] = {
    "add_bias_logits": (False,),
    "add_final_layer_norm": (False,),
    "normalize_before": (False,),
    "normalize_embedding": (False,),
    "do_blenderbot_90_layernorm": (False,),
    "static_position_embeddings": (True,),
    "is_encoder_decoder": (True,),
    "tie_encoder_decoder": (False,),
    "cross_attention_hidden_size": (),
    "pruned_heads": ({},),
    "force_bos_token_to_be_generated": (False,),
    "quantization_config": (),
    **_SEARCH,
}
# Keys of config.json that transformers does not read if there is a generation_config.json.
_OF_GENERATION: Final = frozenset(("num_beams", "length_penalty", *_SEARCH))
# Keys of generation_config.json that say the same as config.json, and have precedence.
_GENERATION: Final = (
    *("bad_words_ids", "decoder_start_token_id", "eos_token_id", "pad_token_id", "forced_bos_token_id"),
    *("num_beams", "length_penalty"),
    *_ONLY,
)


class Configuration:
    """The keys of a configuration; those that are never asked for are refused by `finish`.

    Args:
        values: by key; None is the same as a missing key.
        where: the file, for messages.
        elsewhere: the file of each key that another file has, for messages.
    """

    def __init__(self, values: Mapping[str, Any], where: str, elsewhere: Mapping[str, str]) -> None:
        self._values = {key: value for key, value in values.items() if value is not None}
        self._where = where
        self._elsewhere = elsewhere
        self._asked: set[str] = set()

    def whole(self, key: str, default: int | None = None, highest: int | None = None) -> int:
        """Return a whole number from 1 to `highest`, if given; InteropError if it is something else, or missing."""
        value = self.get(key, default)
        if type(value) is not int or value < 1 or (highest is not None and value > highest):
            limit = "of at least 1" if highest is None else f"from 1 to {highest}"
            raise self.refused(key, value, f"a whole number {limit}")
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number that a float can have; InteropError if it is something else."""
        value = self.get(key, default)
        if type(value) not in (int, float) or not -sys.float_info.max <= value <= sys.float_info.max:
            raise self.refused(key, value, "a number")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.get(key, default)
        if type(value) is not bool:
            raise self.refused(key, value, "true or false")
        return value

    def choice(self, key: str, choices: Mapping[str, str], default: str) -> str:
        """Return what a name stands for."""
        value = self.get(key, default)
        if not isinstance(value, str) or value not in choices:
            raise self.refused(key, value, " or ".join(map(repr, choices)))
        return choices[value]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value, or the default where it is missing or null."""
        self._asked.add(key)
        return self._values.get(key, default)

    def refused(self, key: str, value: object, expected: str) -> InteropError:
        """Return the error about a key and its value."""
        shown = "missing" if value is None else f"{value!r:.80}"
        where = self._elsewhere.get(key, self._where)
        return InteropError(f"{where}: {key} is {shown}, but PocketMT only has {expected}")

    def finish(self) -> None:
        """Raise InteropError for a key that makes another network, or that nobody knows."""
        for key, value in self._values.items():
            if key in self._asked or key in _WITHOUT_EFFECT:
                continue
            if key not in _ONLY:
                raise InteropError(
                    f"{self._where}: the key {key!r:.80} (value {value!r:.80}) is unknown: PocketMT cannot tell "
                    "whether the model needs it"
                )
            if not any(type(value) is type(only) and value == only for only in _ONLY[key]):
                raise self.refused(key, value, " or ".join(map(repr, _ONLY[key])) or "models without it")


def read_configuration(folder: Path) -> Configuration:
    """Return config.json, with the values of generation_config.json where that has others.

    Raises InteropError if a file is damaged, or if generation_config.json has an unknown key.
    """
    path, generation = folder / "config.json", folder / "generation_config.json"
    values, elsewhere = read_json(path), {}
    if generation.is_file():
        found = read_json(generation)
        values = {key: value for key, value in values.items() if key not in _OF_GENERATION}
        values |= {key: found[key] for key in _GENERATION if found.get(key) is not None}
        elsewhere = {key: str(generation) for key in _GENERATION if found.get(key) is not None}
        said = [key for key, value in found.items() if value is not None]
        if unknown := [key for key in said if key not in _GENERATION and key not in _WITHOUT_EFFECT]:
            raise InteropError(
                f"{generation}: the key {unknown[0]!r:.80} (value {found[unknown[0]]!r:.80}) is unknown: PocketMT "
                "cannot tell whether the model needs it"
            )
    return Configuration(values, str(path), elsewhere)


def one_id(configuration: Configuration, key: str) -> int:
    """Return the id of a piece; a list of one id is that id."""
    value = configuration.get(key)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if type(value) is not int or value < 0:
        raise configuration.refused(key, value, "the id of one piece")
    return value


def banned_ids(configuration: Configuration) -> tuple[int, ...]:
    """Return the pieces that are never generated, ascending."""
    value = configuration.get("bad_words_ids", [])
    if not isinstance(value, list):
        raise configuration.refused("bad_words_ids", value, "a list")
    ids = set()
    for sequence in value:
        if not isinstance(sequence, list) or len(sequence) != 1 or type(sequence[0]) is not int or sequence[0] < 0:
            raise configuration.refused("bad_words_ids", sequence, "single pieces")
        ids.add(sequence[0])
    return tuple(sorted(ids))
