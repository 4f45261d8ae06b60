"""The page of a comparison: one HTML file that needs no network and runs no script."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from importlib.resources import files
from statistics import median

from pocketmt.evaluation.comparison import charts
from pocketmt.evaluation.comparison.changed_lines import changed_lines
from pocketmt.evaluation.comparison.record import ComparedModel, Comparison, OutputAgreement, Speed
from pocketmt.evaluation.comparison.summary import headline, megabytes, percent, tiles
from pocketmt.model_file.report import printable

_NAMES = ("original", "smaller")
# Nothing is loaded from anywhere, and no script runs, whatever the texts and model files hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render(comparison: Comparison) -> str:
    """Return the page; all text of models and corpora is escaped."""
    style = files("pocketmt.evaluation.comparison").joinpath("style.css").read_text(encoding="utf-8")
    title = f"{comparison.small.name} compared with {comparison.original.name}"
    body = "\n".join(
        (
            f"<h1>{_safe(title)}</h1>",
            f"<p>{_safe(headline(comparison))}</p>",
            _tiles(comparison),
            *_size(comparison),
            *_quality(comparison),
            *_agreement(comparison),
            *_faults(comparison),
            *_speed(comparison),
            *changed_lines(comparison.changed, comparison.outputs),
            *_how(comparison),
        )
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _safe(text: str) -> str:
    return escape(printable(text))


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a table whose first `words` columns are words and the others numbers; cells are escaped here."""

    def row(cells: Sequence[str], tag: str) -> str:
        styled = (
            f"<{tag}{'' if index < words else ' class=number'}>{_safe(each)}</{tag}>"
            for index, each in enumerate(cells)
        )
        return f"<tr>{''.join(styled)}</tr>"

    return f'<div class="table"><table>{row(heading, "th")}{"".join(row(each, "td") for each in rows)}</table></div>'


def _tiles(comparison: Comparison) -> str:
    shown = "".join(
        f'<div class="tile"><b>{_safe(value)}</b><span>{_safe(what)}</span></div>' for value, what in tiles(comparison)
    )
    return f'<div class="tiles">{shown}</div>'


def _size(comparison: Comparison) -> Iterator[str]:
    models = comparison.original, comparison.small
    yield "<h2>Size</h2>"
    bars = {name: each.sizes.parts for name, each in zip(_NAMES, models, strict=True)}
    yield f'<div class="pictures">{charts.stacked_bars("Parts of the files, in megabytes", bars, 1e6, "MB")}</div>'
    names = list(dict.fromkeys(name for each in bars.values() for name in each))
    rows = [[name, *(f"{each.sizes.parts.get(name, 0):,}" for each in models)] for name in names]
    rows.append(["file", *(f"{each.sizes.file_bytes:,}" for each in models)])
    rows.append(["file with float32 parameters", *(f"{each.sizes.float32_file_bytes:,}" for each in models)])
    rows.append(["parameters", *(f"{each.sizes.parameters:,}" for each in models)])
    yield _table(["bytes", *_NAMES], rows)
    for name, each in zip(_NAMES, models, strict=True):
        yield f"<p>Matrices of the {name} model by scheme:</p>"
        yield _table(
            ["scheme", "matrices", "weights", "bits a weight", "bytes"],
            [
                [s.scheme, str(s.matrices), f"{s.weights:,}", f"{s.bits:.2f}", f"{s.bytes:,}"]
                for s in each.sizes.schemes
            ],
        )
    for name, each in zip(_NAMES, models, strict=True):
        rows = [
            [m.name, " x ".join(map(str, m.shape)), m.scheme, f"{m.bits:.2f}", f"{m.bytes:,}"]
            for m in each.sizes.matrices
        ]
        matrices = _table(["matrix", "shape", "scheme", "bits a weight", "bytes"], rows, 3)
        yield f"<details><summary>Every matrix of the {name} model</summary>{matrices}</details>"


def _quality(comparison: Comparison) -> Iterator[str]:
    yield "<h2>Quality</h2>"
    if not comparison.differences:
        yield '<p class="quiet">No references were given, so there are no scores: see the agreement instead.</p>'
        return
    rows = [
        [each.name, f"{each.baseline:.2f}", f"{each.system:.2f}", f"{each.gain:+.2f}", f"{each.p_value:.3f}"]
        for each in comparison.differences
    ]
    yield _table(["score", *_NAMES, "difference", "p"], rows)
    yield (
        "<p>p is how often a difference as large appears by chance, by paired bootstrap; below 0.05 it is commonly "
        "called significant.</p>"
    )
    signatures = "; ".join(each.signature for each in comparison.differences)
    yield f'<p class="quiet">Signatures: <code>{_safe(signatures)}</code></p>'


def _agreement(comparison: Comparison) -> Iterator[str]:
    agreement, outputs = comparison.agreement, comparison.outputs
    yield "<h2>Agreement with the original</h2>"
    yield (
        f"<p>{percent(outputs.identical)} of {outputs.lines:,} translations are the same. With the original's "
        f"translations as references, the smaller model's have BLEU {outputs.bleu:.1f} and chrF {outputs.chrf:.1f}.</p>"
    )
    if agreement is None:
        reason = comparison.no_agreement or "the translations have no pieces"
        yield f"<p>The next pieces of both models cannot be compared: {_safe(reason)}.</p>"
    else:
        yield (
            f"<p>After the same beginning, both choose the same next piece in {percent(agreement.same)} of "
            f"{agreement.tokens:,} cases (beginnings of the original's translations of {agreement.sentences:,} "
            f"sentences). The distributions diverge by {agreement.divergence:.4f} nats a piece (0: equal).</p>"
        )
    yield f'<div class="pictures">{_pictures(comparison)}</div>'
    rows = []
    for group in comparison.by_length:
        pieces = (
            ["", ""]
            if group.agreement is None
            else [percent(group.agreement.same), f"{group.agreement.divergence:.4f}"]
        )
        rows.append([group.title, f"{group.outputs.lines:,}", *_texts(group.outputs), *pieces])
    heading = ["source words", "lines", "same translation", "chrF", "same next piece", "divergence"]
    yield _table(heading, rows)


def _texts(outputs: OutputAgreement) -> tuple[str, str]:
    return percent(outputs.identical), f"{outputs.chrf:.1f}"


def _pictures(comparison: Comparison) -> str:
    groups = comparison.by_length
    labels = [g.label for g in groups]
    pictures = [
        charts.columns(
            "chrF between the outputs by length of the source",
            [g.outputs.chrf for g in groups],
            labels,
            [f"{g.outputs.chrf:.0f}" for g in groups],
            "source words",
        )
    ]
    compared = [(label, g.agreement) for label, g in zip(labels, groups, strict=True) if g.agreement is not None]
    if compared:
        pictures.append(
            charts.columns(
                "Same next piece, in percent, by length of the source",
                [100 * each.same for _, each in compared],
                [label for label, _ in compared],
                [f"{100 * each.same:.1f}" for _, each in compared],
                "source words",
            )
        )
    pictures.append(
        charts.columns(
            "Lines by chrF between the outputs",
            comparison.chrf_histogram,
            [f"{10 * tenth}+" for tenth in range(len(comparison.chrf_histogram))],
            [f"{lines:,}" for lines in comparison.chrf_histogram],
            "chrF",
        )
    )
    return "".join(pictures)


def _faults(comparison: Comparison) -> Iterator[str]:
    yield "<h2>Repetitions and missing text</h2>"
    models = comparison.original.faults, comparison.small.faults
    rows = [
        ["words repeated three times in a row", *(f"{each.repeated:,}" for each in models)],
        ["far fewer words than the source", *(f"{each.too_short:,}" for each in models)],
        ["far more words than the source", *(f"{each.too_long:,}" for each in models)],
        ["no text", *(f"{each.empty:,}" for each in models)],
    ]
    yield _table([f"of {comparison.lines:,} lines", *_NAMES], rows)


def _speed(comparison: Comparison) -> Iterator[str]:
    yield "<h2>Speed and memory</h2>"
    first, second = comparison.original.speed, comparison.small.speed
    if first is None or second is None:
        yield '<p class="quiet">Not measured.</p>'
        return
    pairs = [
        _pair(
            "source words a second, as one text", first, second, lambda each: median(each.words_per_second), "{:,.0f}"
        ),
        _pair(
            "milliseconds a line, one at a time",
            first,
            second,
            lambda each: median(each.milliseconds_per_line),
            "{:,.2f}",
        ),
        _pair("peak memory, megabytes", first, second, lambda each: each.peak_memory_bytes / 1e6, "{:,.1f}"),
        _pair("milliseconds to load", first, second, lambda each: 1000 * each.load_seconds, "{:,.0f}"),
    ]
    picture = charts.paired_bars("The original in grey, the smaller model in blue", pairs, _NAMES)
    yield f'<div class="pictures">{picture}</div>'
    rows = [
        ["words a second, each round", *(_rounds(each.words_per_second, 0) for each in (first, second))],
        ["milliseconds a line, each round", *(_rounds(each.milliseconds_per_line, 2) for each in (first, second))],
    ]
    yield _table(["", *_NAMES], rows)
    yield (
        f"<p>{first.lines:,} lines, beam {comparison.beam_size}, {first.workers} worker(s), instruction set "
        f"{_safe(first.instruction_set)}. Each round of each model is a process that does nothing else, and the models "
        "take turns. The memory is that of the whole process with Python.</p>"
    )


def _pair(title: str, first: Speed, second: Speed, value: Callable[[Speed], float], text: str) -> charts.Pair:
    values = value(first), value(second)
    return charts.Pair(title, values, (text.format(values[0]), text.format(values[1])))


def _rounds(values: Sequence[float], digits: int) -> str:
    return ", ".join(f"{value:,.{digits}f}" for value in values)


def _how(comparison: Comparison) -> Iterator[str]:
    yield "<h2>How this was measured</h2>"
    measured = comparison.provenance
    facts = [
        ["text", f"{comparison.text}, {comparison.lines:,} lines"],
        ["references", ", ".join(comparison.references) or "none"],
        ["languages", f"{comparison.source_language} to {comparison.target_language}"],
        *(_facts(name, each) for name, each in zip(_NAMES, (comparison.original, comparison.small), strict=True)),
        ["machine", f"{measured.machine.processor}, {measured.machine.cores} cores, {measured.machine.system}"],
        ["command", measured.command],
        ["version", f"PocketMT {measured.version}, commit {measured.commit or 'unknown'}, {measured.date}"],
    ]
    yield _table(["", ""], facts, 2)


def _facts(name: str, model: ComparedModel) -> list[str]:
    recipe = f", recipe {model.recipe}" if model.recipe else ""
    return [f"{name} model", f"{model.name}, {megabytes(model.sizes.file_bytes)}, {model.producer}{recipe}"]
