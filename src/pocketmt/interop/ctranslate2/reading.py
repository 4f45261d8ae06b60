"""Reading a CTranslate2 folder, without its package; 8-bit codes and their scales stay as they are."""

from pathlib import Path
from typing import Any, Final

import numpy as np

from pocketmt.errors import ConfigurationError, DataError, InteropError, ModelFileError
from pocketmt.interop.ctranslate2.folder import (
    CONFIGURATION,
    MODEL,
    pieces_of,
    read_lists,
    read_optional_json,
    read_vocabularies,
)
from pocketmt.interop.ctranslate2.model_bin import REVISION, SPECIFICATION, read_model_bin
from pocketmt.interop.ctranslate2.names import (
    ACTIVATIONS,
    DECODER_EMBEDDING,
    ENCODER_EMBEDDING,
    PROJECTION,
    ctranslate2_name,
)
from pocketmt.interop.ctranslate2.taken_variables import FLOATS, TakenVariables
from pocketmt.interop.ctranslate2.text_rules import OWN, Decoder, TextRules, found_rules, own_rules
from pocketmt.interop.ctranslate2.vocabulary_map import MAP, read_map
from pocketmt.interop.foreign_model import ForeignModel
from pocketmt.interop.foreign_tensor import Float32
from pocketmt.interop.named_errors import with_path
from pocketmt.interop.position_table import TABLE_ERROR, position_table
from pocketmt.model_file.architecture import TransformerArchitecture
from pocketmt.model_file.language_pieces import language_pieces_from_json
from pocketmt.model_file.metadata import ModelMetadata
from pocketmt.model_file.shortlist_encoding import Shortlist, listed_sides
from pocketmt.model_file.vocabularies import load_checked
from pocketmt.text.stored_vocabulary import StoredVocabularies

_MOST_OFFSET: Final = 8
_WITH_CONFIGURATION: Final = 6  # the first version of model.bin beside which config.json lies
# Numbers that PocketMT has at one value only, by the last part of their names.
_FIXED: Final = {
    "alibi": 0,
    "alibi_use_positive_positions": 0,
    "embeddings_merge": 0,
    "multi_query_attention": 0,
    "scale_alibi": 0,
    "with_relative_position": 0,
}
_WITHOUT_EFFECT: Final = {"alignment_heads", "alignment_layer"}
_EPSILON: Final = 1e-5
_HEADS: Final = {"TransformerBase": 8, "TransformerBig": 16}  # of specifications that do not say their heads


def read_model(folder: Path) -> ForeignModel:
    """Read a folder; raises InteropError naming what is damaged, or what PocketMT does not have."""
    try:
        return _Folder(folder).model()
    except ConfigurationError as error:
        raise InteropError(f"{folder}: describes no network that PocketMT has: {error}") from error
    except InteropError as error:
        raise with_path(folder, error) from error


class _Folder:
    """A folder whose variables are taken one by one; those that are left over are refused."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read = read_model_bin(folder / MODEL)
        if self._read.revision < 2 and not self._read.specification:
            raise InteropError(f"{folder / MODEL}: has OpenNMT-tf's names of version 1: convert the model again")
        if self._read.specification not in (SPECIFICATION, *_HEADS):
            raise InteropError(
                f"{folder / MODEL}: is a model of {self._read.specification!r:.80}, PocketMT reads {SPECIFICATION} only"
            )
        if self._read.revision > REVISION:
            raise InteropError(
                f"{folder / MODEL}: has revision {self._read.revision} of {self._read.specification}, PocketMT knows "
                f"those up to {REVISION}: convert the model with CTranslate2 4.8"
            )
        self._held = TakenVariables(folder / MODEL, self._read)
        self._configuration = read_optional_json(folder / CONFIGURATION) | self._older_configuration()
        self._own = read_optional_json(folder / OWN)

    def model(self) -> ForeignModel:
        lists = read_lists(self._folder)
        rules = self._rules(*lists)
        normalization = self._own.get("normalization", "none")
        vocabularies = read_vocabularies(self._folder, lists, rules.sides, normalization)
        architecture = self._architecture(vocabularies, rules)
        shapes = architecture.parameter_shapes()
        tensors = {name: self._held.tensor(ctranslate2_name(name), shape) for name, shape in shapes.items()}
        if unknown := sorted(self._held.found.keys() - self._held.taken):
            raise self._held.error(f"holds the variable {unknown[0]!r:.120}, which PocketMT has no place for")
        try:
            load_checked(vocabularies, architecture)
        except (DataError, ModelFileError) as error:
            raise InteropError(f"{self._folder}: the vocabulary does not fit: {error}") from error
        shortlist, notes = self._shortlist(architecture, vocabularies)
        return ForeignModel(
            architecture=architecture,
            tensors=tensors,
            vocabularies=vocabularies,
            metadata=self._metadata(rules),
            shortlist=shortlist,
            notes=(*rules.notes, *notes),
        )

    def _older_configuration(self) -> dict[str, Any]:
        """Return what variables of files before version 6 say in place of config.json, as CTranslate2 reads them."""
        if self._read.version >= _WITH_CONFIGURATION:
            return {}
        if self._held.number("user_decoder_start_tokens", 0):
            raise self._held.error(
                "user_decoder_start_tokens is 1: the caller gives the decoder's first piece, which PocketMT lacks"
            )
        tokens = {f"{role}_token": self._held.text(f"{role}_token", usual) for role, usual in _USUAL.items()}
        flags = {f"add_source_{role}": bool(self._held.number(f"with_source_{role}", 0)) for role in ("bos", "eos")}
        start = "bos_token" if self._held.number("with_target_bos", 1) else "eos_token"
        return {**tokens, **flags, "decoder_start_token": tokens[start]}

    def _rules(self, source: tuple[str, ...], target: tuple[str, ...]) -> TextRules:
        add_source_eos = self._flag("add_source_eos")
        if (self._folder / OWN).is_file():
            return own_rules(self._folder, self._own, source is target, add_source_eos)
        decoder = Decoder(self._start(), self._starts_from_zero(), self._configuration.get("eos_token", _USUAL["eos"]))
        return found_rules(self._folder, source, target, decoder, add_source_eos)

    def _shortlist(
        self, architecture: TransformerArchitecture, vocabularies: StoredVocabularies
    ) -> tuple[Shortlist | None, tuple[str, ...]]:
        """Return the shortlist of the folder, and notes on what is different."""
        path = self._folder / MAP
        if not path.is_file():
            return None, ()
        listed = [pieces_of(side) for side in vocabularies.sides]
        shortlist, several = read_map(path, listed_sides(architecture), listed[0], listed[-1])
        notes = [f"{MAP}, which CTranslate2 applies with use_vmap=True only, is the shortlist of all translations"]
        if several:
            notes.append(f"{several} entries of {MAP} for several pieces in a row are left out")
        return shortlist, tuple(notes)

    def _metadata(self, rules: TextRules) -> ModelMetadata:
        held = self._own.get("metadata", {})
        texts = ("source_language", "target_language", "licence", "description", "unit")
        if not isinstance(held, dict) or not all(isinstance(held.get(name, ""), str) for name in texts):
            raise InteropError(f"{self._folder / OWN}: metadata is not an object of texts")
        training = held.get("training", {"imported_from": "CTranslate2"})
        if not isinstance(training, dict):
            raise InteropError(f"{self._folder / OWN}: training is not an object")
        stored = held.get("language_pieces")
        try:
            languages = rules.languages if stored is None else language_pieces_from_json(stored)
        except ModelFileError as error:
            raise InteropError(f"{self._folder / OWN}: {error}") from error
        said = {name: held[name] for name in texts if name in held}
        return ModelMetadata(**said, language_pieces=languages, training=training)

    def _architecture(self, vocabularies: StoredVocabularies, rules: TextRules) -> TransformerArchitecture:
        layers = [self._layers(stack) for stack in ("encoder", "decoder")]
        embedding = self._held.shape(DECODER_EMBEDDING)
        source = self._held.shape(ENCODER_EMBEDDING if ENCODER_EMBEDDING in self._held.found else self._old_embedding())
        heads = self._held.same("num_heads", _HEADS.get(self._read.specification, 0))
        inner = [
            [self._held.shape(f"{stack}/layer_{layer}/ffn/linear_0/weight")[0] for layer in range(count)]
            for stack, count in zip(("encoder", "decoder"), layers, strict=True)
        ]
        largest = max(inner[0] + inner[1])
        positions, offset = self._positions()
        shared = self._held.take_if_same(DECODER_EMBEDDING, ENCODER_EMBEDDING)
        fields: dict[str, Any] = {
            "model_dimension": embedding[1],
            "vocabulary_size": embedding[0],
            "source_vocabulary_size": 0 if source[0] == embedding[0] else source[0],
            "encoder_layers": layers[0],
            "decoder_layers": layers[1],
            "attention_heads": heads,
            "attention_dimension": self._held.shape("encoder/layer_0/self_attention/linear_1/weight")[1],
            "attention_bias": "encoder/layer_0/self_attention/linear_0/bias" in self._held.found,
            "feed_forward_dimension": largest,
            "encoder_feed_forward": tuple(inner[0]) if set(inner[0]) != {largest} else (),
            "decoder_feed_forward": tuple(inner[1]) if set(inner[1]) != {largest} else (),
            "norm": "pre" if self._held.same("pre_norm", 1) else "post",
            "activation": self._activation(),
            "positions": positions,
            "position_offset": offset,
            "embedding_norm": "encoder/layernorm_embedding/gamma" in self._held.found,
            "scale_embeddings": self._scaled(embedding[1]),
            "embeddings": "shared" if shared else "separate",
            "output_projection": "tied" if self._held.take_if_same(DECODER_EMBEDDING, PROJECTION) else "untied",
            "output_bias": "decoder/projection/bias" in self._held.found,
            "normalization_epsilon": self._epsilon(),
            "vocabularies": "shared" if vocabularies.target is None else "separate",
        }
        self._check_attention(fields["attention_dimension"], fields["attention_heads"])
        return TransformerArchitecture(
            **fields, **self._special(vocabularies), append_source_eos=rules.append_source_eos
        )

    def _special(self, vocabularies: StoredVocabularies) -> dict[str, Any]:
        """Return special ids, the first input, and pieces that are never generated."""
        listed = [pieces_of(side) for side in vocabularies.sides]
        target = listed[-1]
        start = self._start()
        names = {role: self._configuration.get(f"{role}_token", usual) for role, usual in _USUAL.items()}
        for role in ("eos", "unk"):
            if names[role] not in target:
                raise InteropError(f"{self._folder}: {role}_token {names[role]!r:.40} is not in the vocabulary")
        ids = {f"{role}_id": target.index(name) if name in target else None for role, name in names.items()}
        if names["bos"] == names["eos"]:
            ids["bos_id"] = None
        zero = self._starts_from_zero()
        if not zero and start not in (names["bos"], names["eos"]):
            if start not in target:
                raise InteropError(f"{self._folder}: decoder_start_token {start!r:.40} is not in the vocabulary")
            ids["pad_id"] = target.index(start)
        first = "zero" if zero else "eos" if start == names["eos"] else "bos" if start == names["bos"] else "pad"
        if self._flag("add_source_bos"):
            raise InteropError(f"{self._folder}: add_source_bos is true, which PocketMT does not have")
        fields: dict[str, Any] = {"pad_id": None, **ids, "ban_special_pieces": False, "first_decoder_input": first}
        fields |= {name: self._own[name] for name in _OWN_FIELDS if name in self._own}
        banned = self._own.get("banned_ids", [])
        if vocabularies.target is not None:
            for role in ("eos", "unk"):
                if names[role] not in listed[0]:
                    raise InteropError(
                        f"{self._folder}: {role}_token {names[role]!r:.40} is not in the source's vocabulary"
                    )
                if (id := listed[0].index(names[role])) != ids[f"{role}_id"]:
                    fields[f"source_{role}_id"] = id
        return {**fields, "banned_ids": tuple(banned) if isinstance(banned, list) else banned}

    def _start(self) -> Any:
        return self._configuration.get("decoder_start_token", self._configuration.get("bos_token", _USUAL["bos"]))

    def _starts_from_zero(self) -> bool:
        return bool(self._held.same("start_from_zero_embedding", 0, ("decoder",)))

    def _flag(self, key: str) -> bool:
        value = self._configuration.get(key)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise InteropError(f"{self._folder / CONFIGURATION}: {key} is {value!r:.40}, expected true or false")
        return value

    def _epsilon(self) -> float:
        value = self._configuration.get("layer_norm_epsilon")
        if value is None:
            return _EPSILON
        if not isinstance(value, float):
            raise InteropError(
                f"{self._folder / CONFIGURATION}: layer_norm_epsilon is {value!r:.40}, expected a number"
            )
        return value

    def _layers(self, stack: str) -> int:
        count = 0
        while f"{stack}/layer_{count}/ffn/linear_0/weight" in self._held.found:
            count += 1
        if not count:
            raise self._held.error(
                f"has no variable {stack}/layer_0/ffn/linear_0/weight: not a Transformer of two stacks"
            )
        return count

    def _old_embedding(self) -> str:
        old = "encoder/embeddings/weight"
        if old in self._held.found:
            for name in (old, f"{old}_scale"):
                if name in self._held.found:
                    self._held.found[name.replace("embeddings", "embeddings_0")] = self._held.found.pop(name)
            return ENCODER_EMBEDDING
        raise self._held.error(f"has no variable {ENCODER_EMBEDDING}")

    def _activation(self) -> str:
        value = self._held.same("activation", 0)
        found = [name for name, number in ACTIVATIONS.items() if number == value]
        if not found:
            raise self._held.error(f"activation is {value}, PocketMT has {', '.join(ACTIVATIONS)} (0 to 4)")
        return found[0]

    def _scaled(self, dimension: int) -> bool:
        values = []
        for stack, embeddings in (("encoder", "embeddings_0"), ("decoder", "embeddings")):
            old = self._held.number(f"{stack}/{embeddings}/multiply_by_sqrt_depth", 1)
            values.append(self._held.number(f"{stack}/scale_embeddings", old))
        root = float(dimension) ** 0.5
        if values[0] != values[1] or not any(abs(values[0] - each) < 1e-3 for each in (0, 1, root)):
            raise self._held.error(
                f"scale_embeddings is {values[0]:g} and {values[1]:g}, PocketMT has 0 and sqrt({dimension})"
            )
        factor = [variable for variable in ("encoder/scale_embeddings",) if variable in self._held.found]
        if values[0] == 1 and factor and self._held.found[factor[0]].type == "float32":
            return False  # a factor, which is 1
        return values[0] != 0

    def _positions(self) -> tuple[str, int]:
        """Return our name of the positions whose table the model holds, and the position of its first row."""
        tables = [f"{stack}/position_encodings/encodings" for stack in ("encoder", "decoder")]
        found = []
        for name in tables:
            variable = self._held.found.get(name)
            if variable is None or variable.type not in FLOATS or len(variable.shape) != 2:
                raise self._held.error(f"has no table {name}: PocketMT has networks with sinusoids of positions only")
            self._held.taken.add(name)
            found.append(_recognized(variable.floats()))
        if found[0] is None or found[0] != found[1]:
            raise self._held.error(
                f"the table {tables[0]} holds no sinusoids that PocketMT has, or not those of the decoder"
            )
        return found[0]

    def _check_attention(self, size: int, heads: int) -> None:
        """Raise InteropError for a number that says something else than shapes do; take all that are known."""
        expected = {**_FIXED, "num_heads_kv": heads, "head_dim": size // max(1, heads)}
        for name in sorted(self._held.found.keys() - self._held.taken):
            last = name.rsplit("/", 1)[-1]
            if last in _WITHOUT_EFFECT:
                self._held.taken.add(name)
            elif last in expected and (value := self._held.number(name, 0)) != expected[last]:
                raise self._held.error(f"{name} is {value:g}, PocketMT has {expected[last]} only")
            elif last == "queries_scale" and not abs(self._held.number(name, 0) - expected["head_dim"] ** -0.5) <= 1e-4:
                raise self._held.error(f"{name} is not 1 / sqrt({expected['head_dim']})")


_OWN_FIELDS: Final = ("pad_id", "source_pad_id", "bos_id", "ban_special_pieces")
_USUAL: Final = {"unk": "<unk>", "bos": "<s>", "eos": "</s>"}


def _recognized(table: Float32) -> tuple[str, int] | None:
    rows, dimension = table.shape
    if dimension < 4 or dimension % 2 or not rows or not np.isfinite(table).all():
        return None
    for kind in ("interleaved", "concatenated", "concatenated_inclusive"):
        for offset in range(_MOST_OFFSET + 1):
            start = position_table(kind, offset, min(rows, 2), dimension)
            if np.abs(table[:2] - start).max() > TABLE_ERROR:
                continue
            if np.abs(table - position_table(kind, offset, rows, dimension)).max() <= TABLE_ERROR:
                return kind, offset
    return None
