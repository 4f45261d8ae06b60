"""Tries of the Python API with arguments of wrong types and values."""

from dataclasses import dataclass

from pocketmt.errors import ConfigurationError, DataError, EngineError, ModelFileError, PocketMTError


@dataclass(frozen=True)
class Snippet:
    """A Python expression that must raise; `translator` is a `Translator` of model.pocketmt."""

    code: str
    error: type[Exception]
    names: tuple[str, ...]


def calls(method: str, *tries: tuple[str, type[Exception], tuple[str, ...]]) -> list[Snippet]:
    """Return calls of a method of the translator with some arguments."""
    return [Snippet(f"translator.{method}({arguments})", error, names) for arguments, error, names in tries]


MODELS = [
    Snippet('Translator("missing.pocketmt")', ModelFileError, ("missing.pocketmt", "captions-en-de")),
    Snippet('Translator("")', ModelFileError, ("model",)),
    Snippet("Translator(None)", TypeError, ("model", "None")),
    Snippet("Translator(7)", TypeError, ("model", "int")),
    Snippet("Translator(b'model.pocketmt')", TypeError, ("model",)),
    Snippet('Translator("folder")', ModelFileError, ("folder",)),
    Snippet('Translator("cut.pocketmt")', ModelFileError, ("cut.pocketmt",)),
    Snippet('Translator("flipped.pocketmt")', ModelFileError, ("flipped.pocketmt",)),
    Snippet('Translator("text.pocketmt")', ModelFileError, ("text.pocketmt",)),
    Snippet('Translator("model.pocketmt", workers=0)', EngineError, ("workers", "0")),
    Snippet('Translator("model.pocketmt", workers=5000)', EngineError, ("workers", "5000")),
    Snippet('Translator("model.pocketmt", workers="two")', TypeError, ("workers", "str")),
    Snippet('Translator("model.pocketmt", workers=1.5)', TypeError, ("workers", "float")),
    Snippet('Translator("model.pocketmt", workers=None)', TypeError, ("workers", "None")),
    Snippet('Translator("model.pocketmt", pin_workers="yes")', TypeError, ("pin_workers",)),
    Snippet('Translator("model.pocketmt", instruction_set="sse2")', EngineError, ("sse2",)),
    Snippet('Translator("model.pocketmt", longest_segment=0)', EngineError, ("longest_segment", "0")),
    Snippet('Translator("model.pocketmt", threads=2)', TypeError, ("threads",)),
]
LINES = calls(
    "translate",
    ('"red cat"', TypeError, ("lines", "[text]")),
    ("None", TypeError, ("lines",)),
    ("7", TypeError, ("lines",)),
    ('b"red cat"', TypeError, ("lines",)),
    ('[b"red cat"]', TypeError, ("bytes",)),
    ('["red cat", None]', TypeError, ("None",)),
    ('["red cat", 7]', TypeError, ("lines[1]", "int")),
    ('[["red cat"]]', TypeError, ("list",)),
    ("", TypeError, ("lines",)),
)
OPTIONS = calls(
    "translate",
    ('["red cat"], beam_size=0', EngineError, ("beam_size", "0")),
    ('["red cat"], beam_size=-1', EngineError, ("beam_size", "-1")),
    ('["red cat"], beam_size=10**30', EngineError, ("beam_size",)),
    ('["red cat"], beam_size="four"', TypeError, ("beam_size", "str")),
    ('["red cat"], beam_size=1.5', TypeError, ("beam_size", "float")),
    ('["red cat"], beam_size=None', TypeError, ("beam_size", "None")),
    ('["red cat"], beamsize=4', TypeError, ("beamsize", "beam_size")),
    ('["red cat"], length_penalty="long"', TypeError, ("length_penalty", "str")),
    ('["red cat"], length_penalty=float("nan")', EngineError, ("length_penalty", "finite")),
    ('["red cat"], max_length=0', EngineError, ("max_length", "0")),
    ('["red cat"], max_length="all"', TypeError, ("max_length", "str")),
    ('["red cat"], min_length=-1', EngineError, ("min_length", "-1")),
    ('["red cat"], shortlist="no"', TypeError, ("shortlist",)),
    ('["red cat"], 4', TypeError, ("argument",)),
    ('["red cat"], repetition_penalty=0', EngineError, ("repetition_penalty", "0")),
    ('["red cat"], no_repeat_ngram_size=-1', EngineError, ("no_repeat_ngram_size", "-1")),
    ('["red cat"], repeat_limit=1', EngineError, ("repeat_limit", "1")),
    ('["red cat"], suppressed_texts="bad"', TypeError, ("suppressed_texts",)),
    ('["red cat"], suppressed_texts=[""]', EngineError, ("suppressed_texts",)),
    ('["red cat"], target_prefix=7', TypeError, ("target_prefix",)),
    ('["red cat"], target_prefix=["a", "b"]', EngineError, ("target_prefix",)),
    ('["red cat"], sampling="yes"', TypeError, ("sampling",)),
    ('["red cat"], sampling=True, seed=-1', EngineError, ("seed", "-1")),
    ('["red cat"], sampling=True, temperature=0.0', EngineError, ("temperature", "0")),
    ('["red cat"], sampling=True, top_p=2.0', EngineError, ("top_p", "at most 1")),
    ('["red cat"], split="yes"', TypeError, ("split",)),
    ('["red cat"], batch_size=0', EngineError, ("batch_size", "0")),
)
METHODS = [
    *calls(
        "translate_n_best",
        ('["red cat"], 0', EngineError, ("n_best", "0")),
        ('["red cat"], "two"', TypeError, ("n_best", "str")),
        ('["red cat"]', TypeError, ("n_best",)),
        ('"red cat", 2', TypeError, ("lines",)),
    ),
    *calls(
        "translate_text",
        ("None", TypeError, ("text", "None")),
        ('["red cat"]', TypeError, ("text", "list")),
        ('b"red cat"', TypeError, ("text", "bytes")),
    ),
    Snippet('list(translator.translate_stream(["red cat"], read_ahead=0))', EngineError, ("read_ahead", "0")),
    Snippet('list(translator.translate_stream("red cat"))', TypeError, ("lines",)),
    *calls(
        "translate_ids",
        ("[[99999]]", EngineError, ("99999",)),
        ("[[-1]]", EngineError, ("-1",)),
        ('[["a"]]', TypeError, ()),
        ("7", TypeError, ()),
    ),
    *calls("logits", ("[99999], []", EngineError, ("99999",)), ("[4], [99999]", EngineError, ("99999",))),
]
READERS = [
    Snippet('read_configuration(Path("missing.toml"))', ConfigurationError, ("missing.toml",)),
    Snippet('read_configuration(Path("recipe.toml"))', ConfigurationError, ("recipe.toml", "pocketmt compress")),
    Snippet('read_recipe(Path("train.toml"))', ConfigurationError, ("train.toml", "pocketmt train")),
    Snippet('find_recipe("9bit")', ConfigurationError, ("9bit", "--list")),
    Snippet('read_pipeline(Path("recipe.toml"))', ConfigurationError, ("recipe.toml",)),
    Snippet('read_trained_model(Path("folder"))', DataError, ("folder/model.safetensors",)),
    Snippet('read_trained_model(Path("nan"))', ModelFileError, ("nan/model.safetensors",)),
    Snippet('open_model(Path("missing.pocketmt"))', ModelFileError, ("missing.pocketmt",)),
    Snippet('open_model(Path("cut.pocketmt"))', ModelFileError, ("cut.pocketmt",)),
    Snippet('Vocabulary.from_file(Path("train.en"))', DataError, ("train.en",)),
    Snippet('list(read_pairs(Path("train.en"), Path("short.up")))', DataError, ("train.en", "short.up")),
    Snippet("score([], [])", DataError, ("no lines",)),
    Snippet('score(["a"], ["a", "b"])', DataError, ("1 translations", "2 references")),
    Snippet('pack_run(Path("cut"), "uniform8", Path("x.pocketmt"))', PocketMTError, ("cut/model.safetensors",)),
    Snippet('pack_run(Path("run"), "int8", Path("x.pocketmt"))', ConfigurationError, ("int8", "uniform8")),
]
SNIPPETS = [*MODELS, *LINES, *OPTIONS, *METHODS, *READERS]
