"""Decides claims of the papers by pairs of compressed models, on several networks.

    python -m benchmarks.multi30k.verdicts build/claims --final

benchmarks/multi30k/claims/claims.toml lists the networks and the claims. The folder holds, for each network, a run in
which `benchmarks.multi30k.compression` has compressed it, and the record of that, as captions/ and captions.json. For
each claim and network, both models translate the test sets, and the paired bootstrap compares them. A claim that one
should be better than another, by `least` BLEU, is

- confirmed if on every network the difference is above `least`, with p below 0.05;
- refuted if on every network it is below `least`, or below 0.3 BLEU where `least` is less than that, and it is nowhere
  above `least` with p below 0.05;
- undecided otherwise.

A claim that something costs little has a negative `least`. It is confirmed if on every network the difference is above
`least`, and refuted if it is below `least` on every network, with p below 0.05.

Choices are made on `val`: the test sets are translated only with --final. Writes
benchmarks/records/multi30k/claims.json and prints its rows.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from benchmarks.command import run
from benchmarks.data import ROOT
from benchmarks.multi30k.model_record import Outputs, against
from benchmarks.multi30k.quality import score_entry, translate_sets
from benchmarks.multi30k.texts import TEXTS, Texts
from benchmarks.record_files import read_record, write_record
from pocketmt.cores import available_cores
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.toml_file import read_toml

CLAIMS: Final = Path(__file__).parent / "claims" / "claims.toml"
CONTROL: Final = "control"
SIGNIFICANT: Final = 0.05
SMALLEST_DIFFERENCE: Final = 0.3  # in BLEU: a smaller gain refutes "better"
COLUMNS: Final = ("claim", "network", "better.bleu:.2f=BLEU", "worse.bleu:.2f=BLEU", "gain:+.2f", "p_value:.3f=p")


class Claim(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """That the model of one recipe has a higher BLEU than that of another, by `least`."""

    paper: str
    claim: str
    better: str  # a recipe, or "control": the equal control of the other
    worse: str
    least: float = 0.0


class Claims(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The claims, and the networks that decide them."""

    updates: int  # of a stage of each recipe
    networks: dict[str, str]  # network -> its texts
    claims: list[Claim]

    def recipes(self) -> list[str]:
        """Return the names of all recipes, in the order of the claims."""
        names = (name for claim in self.claims for name in (claim.better, claim.worse) if name != CONTROL)
        return list(dict.fromkeys(names))


def main(arguments: Sequence[str]) -> int:
    """Translate and compare; write the record, print its rows."""
    options = _options(arguments)
    claims: Claims = read_toml(CLAIMS, Claims)
    if options.recipes:
        print(*(f"{name}={claims.updates}" for name in claims.recipes()))
        return 0
    origin = provenance()
    with ProcessPoolExecutor(min(len(claims.networks), available_cores())) as workers:
        measure = partial(_measure, folder=options.folder, final=options.final, claims=claims.claims)
        measured = list(workers.map(measure, claims.networks.items()))
    by_claim = list(zip(*(each.rows for each in measured), strict=True))
    rows = [row for same_claim in by_claim for row in same_claim]
    verdicts = list(map(_verdict_row, claims.claims, by_claim)) if options.final else []
    facts = [network.facts for network in measured]
    found = {"rows": rows, "verdicts": verdicts, "models": _models(measured), "networks": facts}
    write_record({**found, "provenance": origin}, options.output)
    print(plain_table(rows, [Column.parse(column) for column in COLUMNS]))
    if verdicts:
        print(plain_table(verdicts, [Column.parse(column) for column in ("claim", "verdict")]))
    return 0


def verdict(least: float, differences: Sequence[Mapping[str, float]]) -> str:
    """Return "confirmed", "refuted" or "undecided".

    Args:
        least: the smallest difference in BLEU at which the claim holds.
        differences: `gain`, in BLEU, and `p_value`, for each network.
    """
    above = [each["gain"] > least for each in differences]
    clear = [each["p_value"] < SIGNIFICANT for each in differences]
    if least < 0:
        if all(above):
            return "confirmed"
        return "refuted" if all(clear) and not any(above) else "undecided"
    holds = [high and sure for high, sure in zip(above, clear, strict=True)]
    if all(holds):
        return "confirmed"
    small = [each["gain"] < max(least, SMALLEST_DIFFERENCE) for each in differences]
    return "refuted" if all(small) and not any(holds) else "undecided"


class _Network:
    """The models into which one network was compressed, and their translations."""

    def __init__(self, name: str, run: Path, texts: Texts, final: bool) -> None:
        """Read the record of the compression; ConfigurationError says how to make it if there is none."""
        path = run.with_suffix(".json")
        if not path.exists():
            command = f"python -m benchmarks.multi30k.compression {run} RECIPES --texts {texts.name} --output {path}"
            raise ConfigurationError(f"{path} does not exist: run `{command}`; --recipes prints the names")
        self.name, self.folder, self.texts, self.final = name, run / "recipes", texts, final
        self.sets = texts.tests if final else (texts.validation,)
        self.record = read_record(path)
        self.known = {row["recipe"]: row for row in self.record["rows"]}
        self.translated: dict[str, Outputs] = {}
        self.scores: dict[str, dict[str, Any]] = {}

    def facts(self) -> dict[str, Any]:
        """Return what the rows of a network have in common: how it was trained and compressed."""
        return {"network": self.name, "model": self.record["model"], "compression": self.record["provenance"]}

    def row(self, claim: Claim) -> dict[str, Any]:
        """Return both scores for a claim, and the gain of the better over the worse."""
        better, worse = self._recipe(claim.better, claim.worse), self._recipe(claim.worse, claim.better)
        scores = {"better": self._scores(better), "worse": self._scores(worse)}
        difference = {"gain": scores["better"]["bleu"] - scores["worse"]["bleu"], "p_value": None}
        if self.final:
            difference |= against(self._outputs(worse), self._outputs(better), self.texts)
        return {"paper": claim.paper, "claim": claim.claim, "network": self.name, **scores, **difference}

    def _recipe(self, name: str, other: str) -> str:
        """Return the recipe of one side of a claim: for "control", the equal control of the other side."""
        if name == CONTROL and other in self.known:
            name = self.known[other]["control"]["recipe"]
        if name not in self.known:
            raise ConfigurationError(f"{self.name}: its record has no row of {other if name == CONTROL else name}")
        return name

    def _scores(self, recipe: str) -> dict[str, Any]:
        """Return the scores of a model on all sets together, and what the record of its compression says of it."""
        if recipe in self.scores:
            return self.scores[recipe]
        texts, outputs = self.texts, self._outputs(recipe)
        if self.final:
            quality = score(texts.pooled(outputs), *texts.pooled_references())
        else:
            quality = score(outputs[texts.validation], *texts.reference_lines(texts.validation))
        row = self.known[recipe]
        facts = {key: row[key] for key in ("recipe", "bits", "bytes", "updates", "best_updates", "perplexity")}
        self.scores[recipe] = facts | score_entry(quality)
        return self.scores[recipe]

    def _outputs(self, recipe: str) -> Outputs:
        if recipe not in self.translated:
            path = self.folder / f"{recipe}.pocketmt"
            self.translated[recipe] = translate_sets(path, self.sets, self.texts)
        return self.translated[recipe]


@dataclass(frozen=True)
class _Measured:
    """What one network says of all claims."""

    name: str
    rows: list[dict[str, Any]]  # one for each claim
    scores: dict[str, dict[str, Any]]  # recipe -> facts and scores of its model
    facts: dict[str, Any]


def _measure(network: tuple[str, str], folder: Path, final: bool, claims: Sequence[Claim]) -> _Measured:
    """Compare the models of one network, given by its name and its texts."""
    name, texts = network
    found = _Network(name, folder / name, TEXTS[texts], final)
    return _Measured(name, [found.row(claim) for claim in claims], found.scores, found.facts())


def _models(networks: Sequence[_Measured]) -> list[dict[str, Any]]:
    """Return the facts and scores of each recipe's model on each network."""
    names = dict.fromkeys(name for network in networks for name in network.scores)
    return [{"recipe": name, **{network.name: network.scores.get(name) for network in networks}} for name in names]


def _verdict_row(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the verdict of a claim, with the gain and the p-value on each network."""
    gains = {row["network"]: {key: row[key] for key in ("gain", "p_value")} for row in rows}
    return {**msgspec.structs.asdict(claim), **gains, "verdict": verdict(claim.least, list(gains.values()))}


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of the networks' runs and records")
    parser.add_argument("--final", action="store_true", help="decide on the test sets, after all choices are made")
    parser.add_argument("--recipes", action="store_true", help="print the recipes that the claims need, and stop")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k" / "claims.json")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(run(main))
