"""Options of `pocketmt translate` about the search for translations, and about what is written of them."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from pocketmt.cli.options import (
    FILE,
    EncodableText,
    beam_size_option,
    check_n_best,
    is_given,
    option_name,
    shortlist_option,
    source_language_option,
    target_language_option,
)
from pocketmt.errors import EngineError
from pocketmt.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from pocketmt.engine import DetailedHypothesis, TranslationChecks, Translator
    from pocketmt.engine.options import TranslationOptions

_POSITIVE: Final = click.IntRange(1)
# In the order of the help.
_OPTIONS: Final = (
    beam_size_option,
    click.option(
        "--n-best",
        "-n",
        type=_POSITIVE,
        default=1,
        show_default=True,
        help="Translations of each line, at most the beam size, or the number of samples: best first, in one line, "
        "separated by tabs. With --terms, they are ordered by a score without the terms; --scores writes the full "
        "score.",
    ),
    click.option(
        "--split/--no-split",
        default=None,
        help="Translate the sentences of a line one by one, or the line as a whole (default: split if the model "
        "translates sentences, as its file says).",
    ),
    click.option("--scores", is_flag=True, help="Write the score and a tab before each translation."),
    click.option(
        "--alignment",
        is_flag=True,
        help="Write a tab and the links of words after each translation, as pairs of source word and target word, "
        "counted from 0, such as 0-0 1-2.",
    ),
    click.option(
        "--json",
        "as_json",
        is_flag=True,
        help="Write each line as a JSON object with translations and scores; with --alignment also the words.",
    ),
    click.option(
        "--token-scores", is_flag=True, help="With --json: write the pieces and the log-probability of each, too."
    ),
    shortlist_option,
    source_language_option,
    target_language_option,
    click.option(
        "--prefix",
        "target_prefix",
        type=EncodableText(),
        metavar="TEXT",
        help="Begin every translation with this text.",
    ),
    click.option(
        "--terms",
        type=FILE,
        help="TSV file: a source term, a tab and the term that translations of sentences with it must have.",
    ),
    click.option(
        "--suppress",
        "suppressed_texts",
        type=EncodableText(),
        metavar="TEXT",
        multiple=True,
        help="Never generate this text where a word begins; may be given several times.",
    ),
    click.option(
        "--repetition-penalty",
        type=click.FloatRange(0.01, 100),
        help="Make pieces that a translation already has less probable by a number above 1 (default: 1).",
    ),
    click.option(
        "--no-repeat-ngram",
        "no_repeat_ngram_size",
        type=_POSITIVE,
        metavar="N",
        help="Generate no sequence of N pieces twice.",
    ),
    click.option(
        "--repeat-limit",
        type=click.IntRange(2),
        metavar="N",
        help="End a translation where it has the same sequence of pieces N times in a row (default: it goes on).",
    ),
    click.option(
        "--replace-unknown",
        "replace_unknowns",
        is_flag=True,
        default=None,
        help="Let the model generate its unknown piece, and replace it by the source word with the most attention.",
    ),
    click.option(
        "--max-length", type=_POSITIVE, help="Most pieces of a translation (default: 2 x source pieces + 20)."
    ),
    click.option(
        "--sample",
        "sampling",
        is_flag=True,
        default=None,
        help="Draw pieces at random by their probabilities; --n-best is the number of samples of each sentence.",
    ),
    click.option(
        "--seed", type=click.IntRange(0), help="Sampling seed; the same seed gives the same samples (default: 0)."
    ),
    click.option("--temperature", type=click.FloatRange(0, min_open=True), help="Sampling temperature (default: 1)."),
    click.option("--top-k", type=_POSITIVE, help="Draw from the K most probable pieces (default: all)."),
    click.option(
        "--top-p",
        type=click.FloatRange(0, 1, min_open=True),
        help="Draw from the most probable pieces whose probabilities reach this sum (default: 1).",
    ),
    click.option(
        "--batch-size",
        type=_POSITIVE,
        help="Most sentences computed together: fewer need less memory (default: as many as are fastest).",
    ),
)
# Names of the parameters: keyword arguments of the translator, and of `SearchChoices`.
_OF_SAMPLING: Final = ("seed", "temperature", "top_k", "top_p")
_SEARCH: Final = (
    *("beam_size", "split", "shortlist", "source_language", "target_language", "target_prefix", "terms"),
    *("suppressed_texts", "repetition_penalty"),
    *(
        "no_repeat_ngram_size",
        "repeat_limit",
        "replace_unknowns",
        "max_length",
        "batch_size",
        "sampling",
        *_OF_SAMPLING,
    ),
)
# Arguments of Python in errors, and options whose names differ from theirs.
_ARGUMENT: Final = lazy_pattern(
    r"(?<![\w'-])(?:target_prefix|suppressed_texts|no_repeat_ngram_size|replace_unknowns|repetition_penalty|repeat_limit"
    r"|max_length|batch_size|beam_size|top_k|top_p|pin_workers|instruction_set|pass alignment=False)(?![\w'])"
    r"|^(?:temperature|seed|precision|device)\b"
)
_OPTION: Final = {
    "target_prefix": "--prefix",
    "suppressed_texts": "--suppress",
    "no_repeat_ngram_size": "--no-repeat-ngram",
    "replace_unknowns": "--replace-unknown",
    "pass alignment=False": "leave out --alignment",
}
_WRITTEN: Final = ("n_best", "scores", "alignment", "as_json", "token_scores")


class SearchChoices(NamedTuple):
    """What the user chose.

    Attributes:
        options: of the translator.
        n_best: translations of each line.
        scores: whether scores are written in text.
        alignment: whether links of words are written.
        as_json: whether JSON is written.
        token_scores: whether pieces and their scores are written in JSON.
        terms_file: the file of the terms among the options; None: there are none.
    """

    options: "TranslationOptions"
    n_best: int
    scores: bool
    alignment: bool
    as_json: bool
    token_scores: bool
    terms_file: Path | None = None

    @property
    def detailed(self) -> bool:
        """Whether more than one text is written for each line."""
        return self.n_best > 1 or self.scores or self.alignment or self.as_json

    def languages(self, translator: "Translator") -> tuple[str, str]:
        """Return codes of the source and the target: those that were chosen, or the translator's."""
        source, target = translator.languages
        return self.options.get("source_language") or source, self.options.get("target_language") or target

    def translate(
        self, translator: "Translator", chunks: Iterable[list[str]], check: "bool | TranslationChecks"
    ) -> Iterator[list[str]]:
        """Yield what is written of each line, for each chunk of lines; see `Translator.translate_chunks`.

        Args:
            translator: of the model.
            chunks: of lines.
            check: see `TranslationOptions`.
        """
        options: TranslationOptions = {**self.options, "check": check}
        if not self.detailed:
            return translator.translate_chunks(chunks, **options)
        return (
            [
                self._format(hypotheses)
                for hypotheses in translator.translate_detailed(
                    chunk, n_best=self.n_best, alignment=self.alignment, **options
                )
            ]
            for chunk in chunks
        )

    def _format(self, hypotheses: "list[DetailedHypothesis]") -> str:
        if self.as_json:
            translations = [self._record(each) for each in hypotheses]
            return json.dumps({"translations": translations}, ensure_ascii=False)
        return "\t".join(column for each in hypotheses for column in self._columns(each))

    def _columns(self, hypothesis: "DetailedHypothesis") -> list[str]:
        columns = [f"{hypothesis.score:.6f}"] if self.scores else []
        columns.append(hypothesis.text.replace("\t", " "))  # Tabs separate the columns.
        if hypothesis.alignment is not None:
            columns.append(hypothesis.alignment.pharaoh())
        return columns

    def _record(self, hypothesis: "DetailedHypothesis") -> dict[str, object]:
        record: dict[str, object] = {"text": hypothesis.text, "score": round(hypothesis.score, 6)}
        if self.token_scores:
            record["pieces"] = hypothesis.pieces
            record["token_scores"] = [round(score, 6) for score in hypothesis.token_scores]
        if hypothesis.alignment is not None:
            record["alignment"] = hypothesis.alignment.pharaoh()
            record["source_words"] = hypothesis.alignment.source_words
            record["target_words"] = hypothesis.alignment.target_words
        return record


@contextmanager
def naming_options() -> Iterator[None]:
    """Name options of the command line in the engine's errors, which name arguments of Python."""
    try:
        yield
    except EngineError as error:
        raise type(error)(
            _ARGUMENT.sub(lambda found: _OPTION.get(found[0], option_name(found[0])), str(error))
        ) from error


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which takes them as one argument `search` of type `SearchChoices`."""

    @wraps(command)
    def with_choices(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in _SEARCH}
        written = {name: arguments.pop(name) for name in _WRITTEN}
        command(search=_choices(given, **written), **arguments)

    decorated: Callable[..., None] = with_choices
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _choices(
    given: dict[str, Any], *, n_best: int, scores: bool, alignment: bool, as_json: bool, token_scores: bool
) -> SearchChoices:
    if given["sampling"]:
        if is_given("beam_size"):
            raise click.UsageError("--sample does not search with a beam: leave out --beam-size.")
        del given["beam_size"]
    else:
        check_n_best(n_best, given["beam_size"])
    for name in _OF_SAMPLING:
        if given[name] is not None and not given["sampling"]:
            raise click.UsageError(f"--{name.replace('_', '-')} needs --sample.")
    if token_scores and not as_json:
        raise click.UsageError("--token-scores needs --json.")
    terms_file = given["terms"]
    if terms_file is not None:
        if given["sampling"]:
            raise click.UsageError("--terms need a beam search: leave out --sample.")
        from pocketmt.text.terms import read_terms

        given["terms"] = read_terms(terms_file)
    if not is_given("shortlist"):
        del given["shortlist"]  # The default depends on the device.
    options: Any = {name: value for name, value in given.items() if value is not None and value != ()}
    return SearchChoices(options, n_best, scores, alignment, as_json, token_scores, terms_file)
