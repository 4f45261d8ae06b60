"""Options of the search for translations, and their checks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, TypeVar, cast

from pocketmt.engine import _native
from pocketmt.engine.arguments import check_flag, check_integer, check_lines, check_number, check_text
from pocketmt.engine.checks import TranslationChecks
from pocketmt.engine.devices import MakeOptions
from pocketmt.engine.languages import ChosenLanguages, ModelLanguages
from pocketmt.engine.suppressed_texts import make_suppressed_texts
from pocketmt.engine.tokenizer import Tokenizer
from pocketmt.errors import EngineError
from pocketmt.text.vocabulary import Vocabulary

if TYPE_CHECKING:  # Few translations have terms, and their patterns take milliseconds to compile.
    from pocketmt.engine.terms import Term, Terms

DEFAULT_BEAM_SIZE: Final = 4
HIGHEST_NUMBER: Final = (1 << 31) - 1
HIGHEST_SEED: Final = (1 << 64) - 1
HIGHEST_LENGTH_PENALTY: Final = 10
Value = TypeVar("Value")
OF_SAMPLING: Final = ("temperature", "top_k", "top_p", "seed")


class SearchOptions(TypedDict, total=False):
    """Options of the search for translations. No translation depends on the lines that are translated with it.

    Attributes:
        beam_size: hypotheses kept at each step, 1 to 256 (default 4); 1 is greedy search.
        length_penalty: exponent of the length by which log-probabilities are divided, -10 to 10 (default 1.0).
        max_length: most target pieces, including eos (default: 2 x source pieces + 20, and those of the prefix and of
            the terms, or min_length if that is more).
        min_length: fewest target pieces, including eos (default 0). Translations are shorter where repeat_limit ends
            them, or where no piece is allowed next; of several translations, such ones come last.
        shortlist: whether to use the file's lexical shortlist, which limits a translation to probable pieces and makes
            the search faster (default True, by PyTorch False; no effect if the file has none).
        batch_size: most sentences computed together; fewer need less memory (default: as many as are fastest).
        parallel: whether several workers may work on these lines (default True). False suits a server, where many
            translations run at the same time.
        target_prefix: text that translations must begin with: one for all lines, or a list with a text or None for each
            line. Of a line of several sentences it is the beginning of the first.
        terms: target term of each source term. If a sentence has the words of a source term, its translation has the
            target term, as whole words (Post and Vilar 2018, section 3). Such a sentence is searched with one
            hypothesis more for each piece of its target terms. Case counts; of overlapping source terms, the longest.
        suppressed_texts: texts that must not be generated. A text is found wherever it begins at the beginning of a
            word, in whatever way it is divided into pieces, also as the beginning of a longer word. At most 20,000
            bytes, and 200 of a text. Text that is copied or protected is not generated.
        suppressed_sequences: sequences of pieces ("▁" for a space) that must not be generated.
        repetition_penalty: the logit of a piece that the translation already has is divided by this number if it is
            positive, and multiplied if it is negative (Keskar et al. 2019, section 4.1). 0.01 to 100; above 1
            discourages repetitions (default 1.0).
        no_repeat_ngram_size: no sequence of this many pieces is generated twice, except in terms (default 0: any may
            be).
        repeat_limit: a translation ends where its last pieces are one sequence this many times in a row, after all
            terms, which saves the time of a translation that repeats itself up to `max_length`. At least 2 (default
            None: it goes on).
        replace_unknowns: whether the unknown piece may be generated, and is replaced by the source word with the most
            attention (default False: it is never generated).
        sampling: whether pieces are drawn at random from the model's probabilities, instead of searched for by a beam.
            Asked for n translations, the engine draws n samples of each sentence (default False).
        temperature: of sampling: logits are divided by it (default 1.0).
        top_k: of sampling: only the k most probable pieces are drawn from (default: all).
        top_p: of sampling: only the fewest most probable pieces whose probabilities reach this sum are drawn from
            (default 1.0; Holtzman et al. 2020, section 3.1).
        seed: of sampling: samples are the same for the same seed and sentence (default 0).
        source_language, target_language: codes of the languages, of a model that has several, or whose file does not
            name them (default: those of the model file). A line for a model that finds the target language in its
            source may begin with its piece, such as ">>deu<<", instead. Ids of a source are taken as they are.
    """

    beam_size: int
    length_penalty: float
    max_length: int | None
    min_length: int
    shortlist: bool
    batch_size: int | None
    parallel: bool
    target_prefix: str | Sequence[str | None] | None
    terms: Mapping[str, str] | None
    suppressed_texts: Sequence[str]
    suppressed_sequences: Sequence[Sequence[str]]
    repetition_penalty: float
    no_repeat_ngram_size: int
    repeat_limit: int | None
    replace_unknowns: bool
    sampling: bool
    temperature: float
    top_k: int | None
    top_p: float
    seed: int
    source_language: str | None
    target_language: str | None


class TranslationOptions(SearchOptions, total=False):
    """Options of the translation of text: those of the search, and how a line is divided.

    Attributes:
        split: whether a line is split into sentences, which are translated one by one (default: True if the model
            translates sentences, as its file says). Spaces and tabs around sentences stay as they are.
        protect: whether a sentence whose translation lacks a URL, placeholder, tag, symbol, exact number or word that
            the vocabulary lacks is translated again so that it is kept (default: as `split`); not with a prefix.
            Limits of length then count for each part of the sentence. See docs/sentences.md.
        check: whether a `TranslationWarning` tells of each translation that may lack text of its line, and of text that
            was copied because it cannot be translated (default True). Or the checks of several calls together.
    """

    split: bool
    protect: bool
    check: bool | TranslationChecks


class Search(NamedTuple):
    """Checked options: those of the engine, and those that concern single lines and results.

    Attributes:
        native: options of the engine, or of a device.
        prefix: piece ids that every translation begins with.
        line_prefixes: the same for each line; None: `prefix` for all.
        terms: see `SearchOptions`; None: none.
        replace_unknowns: see `SearchOptions`.
        alignment: whether results have alignments.
        languages: of the translation.
        parallel: see `SearchOptions`.
        split: see `TranslationOptions`.
        protect: whether lines that lack protected parts are translated again; those with a prefix are not.
        suppressed_texts: see `SearchOptions`; normalized.
        checks: of the translations; None: none.
    """

    native: Any
    prefix: list[int]
    line_prefixes: list[list[int]] | None
    terms: "Terms | None"
    replace_unknowns: bool
    alignment: bool
    languages: ChosenLanguages
    parallel: bool
    split: bool
    protect: bool
    suppressed_texts: list[str]
    checks: TranslationChecks | None

    def terms_of(self, texts: Iterable[str]) -> "list[list[Term]]":
        """Return the terms that the translation of each sentence must have; empty if there are no terms."""
        return [] if self.terms is None else [self.terms.find(text) for text in texts]

    def has_prefix(self, index: int) -> bool:
        """Whether the translation of the line with an index has to begin with a given text."""
        # The number of prefixes may be wrong: `prefixes` says so.
        return bool(self.prefix) if self.line_prefixes is None else any(self.line_prefixes[index : index + 1])

    def prefixes(self, sentences: Sequence[int]) -> list[list[int]]:
        """Return a prefix for each sentence of lines with these numbers of sentences; empty if there are no prefixes.

        Raises EngineError if there is a list of prefixes that has not one for each line.
        """
        if self.line_prefixes is None and not self.prefix and self.languages.forced is None:
            return []
        lines = [self.prefix] * len(sentences) if self.line_prefixes is None else self.line_prefixes
        if len(lines) != len(sentences):
            raise EngineError(
                f"the length of target_prefix is {len(lines)}, the number of lines is {len(sentences)}: give a prefix "
                "or None for each line, or one text for all"
            )
        prefixes: list[list[int]] = []
        for prefix, count in zip(lines, sentences, strict=True):
            prefixes += [prefix, *[[]] * (count - 1)][:count]
        forced = [] if self.languages.forced is None else [self.languages.forced]
        return [forced + prefix for prefix in prefixes]

    def shown(self, values: list[Value]) -> list[Value]:
        """Return the values of a translation's pieces without that of the piece that is forced."""
        return values if self.languages.forced is None else values[1:]


def check_options(
    options: TranslationOptions,
    vocabulary: Vocabulary,
    languages: ModelLanguages,
    *,
    n_best: int = 1,
    scores: bool = False,
    alignment: bool = False,
    make_options: MakeOptions = _native.SearchOptions,
) -> Search:
    """Check options, and encode their texts.

    Args:
        options: what the caller gave.
        vocabulary, languages: of the target, and of the model.
        n_best: translations of each sentence.
        scores, alignment: whether they are needed.
        make_options: makes the options of the engine, or of a device.

    Raises:
        TypeError: an option is unknown or has a wrong type.
        EngineError: an option is out of range, or the model does not have a language.
    """
    options = _named_options(options)
    sampling = _sampling(options)
    n_best = check_integer("n_best", n_best, 1, _native.max_beam_size)
    chosen = languages.choose(options.get("source_language"), options.get("target_language"))
    replace_unknowns = check_flag("replace_unknowns", options.get("replace_unknowns", False))
    prefix, line_prefixes = _prefixes(options.get("target_prefix"), vocabulary)
    terms = _terms(options, vocabulary, sampling is not None)
    parallel = check_flag("parallel", options.get("parallel", True))
    return Search(
        native=make_options(
            beam_size=_beam_size(options, n_best, sampling is not None),
            n_best=n_best,
            length_penalty=_length_penalty(options.get("length_penalty", 1.0)),
            **_lengths(options, chosen),
            scores=scores,
            shortlist=check_flag("shortlist", options.get("shortlist", True)),
            token_scores=scores,
            attention=alignment or replace_unknowns,
            unknown=replace_unknowns,
            **_repetitions(options),
            **_suppression(options, vocabulary),
            word_continuations=[] if terms is None else terms.word_continuations,
            sampling=sampling,
            batch_size=_batch_size(options.get("batch_size")),
            parallel=parallel,
        ),
        prefix=prefix,
        line_prefixes=line_prefixes,
        terms=terms,
        replace_unknowns=replace_unknowns,
        alignment=alignment,
        languages=chosen,
        parallel=parallel,
        **_division(options),
        suppressed_texts=[vocabulary.normalize(text) for text in options.get("suppressed_texts", ())],
        checks=_checks(options.get("check", True)),
    )


def _division(options: TranslationOptions) -> dict[str, bool]:
    split = check_flag("split", options.get("split", True))
    protect = check_flag("protect", options.get("protect", split))
    return {"split": split, "protect": protect}


def _suppression(options: SearchOptions, vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "suppressed_sequences": _sequences(options.get("suppressed_sequences", ()), vocabulary),
        "suppressed_texts": make_suppressed_texts(options.get("suppressed_texts", ()), vocabulary),
    }


def check_names(options: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError if the name of an option is not known."""
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"unknown search option {unknown[0]!r}; known: {', '.join(known)}")


def _named_options(options: TranslationOptions) -> TranslationOptions:
    """Return options with known names, and with lists in place of iterators, which could be read only once."""
    check_names(options, TranslationOptions.__annotations__)
    held = dict(options)
    for name in ("suppressed_texts", "suppressed_sequences"):
        value = held.get(name)
        if isinstance(value, Iterable) and not isinstance(value, str | bytes):
            held[name] = [list(each) if isinstance(each, Iterator) else each for each in value]
    return cast(TranslationOptions, held)


def _lengths(options: TranslationOptions, chosen: ChosenLanguages) -> dict[str, int | None]:
    given = options.get("max_length")
    longest = None if given is None else _length("max_length", given, 1, chosen)
    shortest = _length("min_length", options.get("min_length", 0), 0, chosen)
    if longest is not None and shortest > longest:
        raise EngineError(
            f"min_length {options.get('min_length')} is more than max_length {given}: lower it, or raise max_length"
        )
    return {"max_length": longest, "min_length": shortest}


def _length(name: str, value: object, lowest: int, chosen: ChosenLanguages) -> int:
    """Return a length of translations, in which the engine counts a forced piece."""
    return min(check_integer(name, value, lowest, HIGHEST_NUMBER) + (chosen.forced is not None), HIGHEST_NUMBER)


def _length_penalty(value: object) -> float:
    penalty = check_number("length_penalty", value)
    if abs(penalty) > HIGHEST_LENGTH_PENALTY:
        raise EngineError(
            f"length_penalty is {penalty:g}, it must be from -{HIGHEST_LENGTH_PENALTY} to {HIGHEST_LENGTH_PENALTY}"
        )
    return penalty


def _repetitions(options: TranslationOptions) -> dict[str, float]:
    limit = options.get("repeat_limit")
    return {
        "repetition_penalty": check_number("repetition_penalty", options.get("repetition_penalty", 1.0)),
        "no_repeat_ngram": check_integer("no_repeat_ngram_size", options.get("no_repeat_ngram_size", 0), 0, 10**6),
        "repeat_limit": 0 if limit is None else check_integer("repeat_limit", limit, 2, HIGHEST_NUMBER),
    }


def _batch_size(value: object) -> int:
    return 0 if value is None else check_integer("batch_size", value, 1, HIGHEST_NUMBER)


def _checks(check: object) -> TranslationChecks | None:
    if isinstance(check, TranslationChecks):
        return check
    return TranslationChecks() if check_flag("check", check) else None


def _beam_size(options: SearchOptions, n_best: int, sampling: bool) -> int:
    if not sampling:
        return check_integer("beam_size", options.get("beam_size", DEFAULT_BEAM_SIZE), 1, _native.max_beam_size)
    if check_integer("beam_size", options.get("beam_size", 1), 1, _native.max_beam_size) != 1:
        raise EngineError("sampling does not search with a beam: leave beam_size out")
    return n_best


def _sampling(options: SearchOptions) -> tuple[float, int, float, int] | None:
    given = [name for name in OF_SAMPLING if name in options]
    if not check_flag("sampling", options.get("sampling", False)):
        if given:
            raise EngineError(f"{given[0]} is an option of sampling: set sampling=True, or leave it out")
        return None
    top_k = options.get("top_k")
    return (
        check_number("temperature", options.get("temperature", 1.0)),
        0 if top_k is None else check_integer("top_k", top_k, 1, HIGHEST_NUMBER),
        check_number("top_p", options.get("top_p", 1.0)),
        check_integer("seed", options.get("seed", 0), 0, HIGHEST_SEED),
    )


def _prefixes(given: object, vocabulary: Vocabulary) -> tuple[list[int], list[list[int]] | None]:
    """Return the prefix of all lines, and those of single lines if there is a list of them."""
    if given is None or isinstance(given, str):
        return _prefix(given, vocabulary), None
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise TypeError(f"target_prefix must be a string or a list of strings, not {type(given).__name__}")
    return [], [_prefix(each, vocabulary, f"target_prefix[{index}]") for index, each in enumerate(given)]


def _prefix(text: object, vocabulary: Vocabulary, name: str = "target_prefix") -> list[int]:
    if text is None:
        return []
    ids = vocabulary.encode(check_text(text, name))
    if vocabulary.ids.unk in ids:
        unknown = vocabulary.encode_as_pieces(str(text))[ids.index(vocabulary.ids.unk)]
        raise EngineError(f"{name} has {unknown!r}, which no piece of the vocabulary has: leave it out")
    return ids


def _terms(options: SearchOptions, vocabulary: Vocabulary, sampling: bool) -> "Terms | None":
    given = options.get("terms")
    if given is None or (isinstance(given, Mapping) and not given):
        return None
    if sampling:
        raise EngineError("terms need a beam search: leave sampling out")
    from pocketmt.engine.terms import contains, make_terms

    terms = make_terms(given, vocabulary)
    for text in map(vocabulary.normalize, check_lines(options.get("suppressed_texts", ()), "suppressed_texts")):
        for target, _ in terms.targets:
            if f" {text}" in f" {target}":
                raise EngineError(
                    f"the term {target!r} has {text!r}, which suppressed_texts has: leave one of them out"
                )
    for sequence in _sequences(options.get("suppressed_sequences", ()), vocabulary):
        for target, (pieces, _) in terms.targets:
            if contains(pieces, sequence):
                raise EngineError(f"the term {target!r} has a sequence of suppressed_sequences: leave one of them out")
    return terms


def _list(name: str, values: object) -> Iterable[object]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, not {type(values).__name__}")
    return values


def _sequences(sequences: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[list[int]]:
    tokenizer = Tokenizer(vocabulary)
    return [
        tokenizer.ids(check_lines(sequence, "a sequence of suppressed_sequences"))
        for sequence in _list("suppressed_sequences", sequences)
    ]
