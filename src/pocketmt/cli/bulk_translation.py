"""Translation of a text on a cluster: the work of each worker, and the shards that are written."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from pocketmt.atomic_file import naming
from pocketmt.chunks import in_chunks
from pocketmt.cli.options import is_given, option_name
from pocketmt.cli.search import SearchChoices
from pocketmt.cli.streams import open_input, read_chunks, warn
from pocketmt.distributed.blocks import Block, Result
from pocketmt.distributed.bulk import output_lock, run_to_shards
from pocketmt.distributed.ray_pool import Cluster
from pocketmt.engine.checks import MOST_WARNINGS, TranslationChecks
from pocketmt.engine.devices import LINES_AT_ONCE
from pocketmt.progress import ProgressLine

if TYPE_CHECKING:
    from pocketmt.engine import Translator


@dataclass(frozen=True)
class TranslationWork:
    """Translates blocks with one engine.

    Attributes:
        models: contents of the model files, so that nodes need no common disk.
        search: what is written of each line.
        choices: arguments of `Translator`; the cluster sets the number of workers.
        check: whether translations are checked.
    """

    models: Sequence[bytes]
    search: SearchChoices
    choices: dict[str, Any]
    check: bool

    @classmethod
    def of(
        cls, models: Sequence[Path], search: SearchChoices, choices: dict[str, Any], check: bool
    ) -> "TranslationWork":
        """Read the model files."""
        return cls([model.read_bytes() for model in models], search, choices, check)

    def start(self, threads: int) -> Callable[[Block], Result]:
        """Load the engine with a number of threads; OSError with the path if the disk is full."""
        from pocketmt.engine import Translator

        with TemporaryDirectory(prefix="pocketmt-") as folder:  # The engine keeps the file mapped after it is removed.
            files = [Path(folder) / f"model{number}.pocketmt" for number in range(1, len(self.models) + 1)]
            for file, content in zip(files, self.models, strict=True):
                with naming(file):
                    file.write_bytes(content)
            translator = Translator(files, **{**self.choices, "workers": threads})
        return partial(self.translate, translator)

    def translate(self, translator: "Translator", block: Block) -> Result:
        """Return the lines that are written of a block."""
        messages: list[str] = []
        checks = TranslationChecks(messages.append, name_argument=option_name)
        checks.lines = block.first_line - 1
        lines = (line for (line,) in block.rows)
        chunks = in_chunks(lines, translator.lines_at_once)
        written = self.search.translate(translator, chunks, checks if self.check else False)
        content = "".join(f"{line}\n" for chunk in written for line in chunk).encode()
        return Result(content, tuple(messages[:MOST_WARNINGS]), checks.suspicious)


def translate_on_cluster(
    cluster: Cluster, work: TranslationWork, source: Path | str | None, output: Path | str | None, block_lines: int
) -> None:
    """Translate a text into a folder of shards.

    Args:
        cluster: the workers.
        work: of each worker.
        source: path or address of the text; None: stdin.
        output: path or address of the folder.
        block_lines: number of lines of a shard.

    Raises click.UsageError if there is no output or workers are to be pinned, and as `output_lock` and
    `run_to_shards` do.
    """
    if output is None:
        raise click.UsageError("--ray needs --output FOLDER: the translation is written as shards.")
    if is_given("pin_workers"):
        raise click.UsageError("--pin-workers has no effect with --ray: leave one of them out.")
    if isinstance(output, Path) and output.is_file():
        raise click.UsageError(f"{output} is a file: --ray writes a folder of shards.")
    name = str(source or "stdin")
    progress = ProgressLine("translated", "lines")
    with open_input(source) as stream, output_lock(str(output)):
        rows = ((line,) for chunk in read_chunks(stream, name, LINES_AT_ONCE) for line in chunk)
        shards = run_to_shards(
            cluster,
            work,
            rows,
            str(output),
            _settings(work),
            lines=block_lines,
            warn=lambda message: warn(f"{name}, {message}" if message.startswith("line ") else message),
            progress=progress.update,
        )
    progress.close()
    click.echo(f"{output}: {shards.finished_lines:,} lines in {len(shards.records):,} shards", err=True)


def _settings(work: TranslationWork) -> dict[str, object]:
    search = work.search
    options = {name: value for name, value in sorted(search.options.items()) if name != "batch_size"}
    written = [search.n_best, search.scores, search.alignment, search.as_json, search.token_scores]
    return {
        "model": "+".join(sorted(hashlib.sha256(model).hexdigest() for model in work.models)),
        "search": options,
        "format": written,
        "longest sentence": work.choices["longest_sentence"],
        "device": work.choices["device"],
        "precision": work.choices["precision"],
    }
