"""Decides claims of the papers by pairs of compressed models, on several networks.

    python -m benchmarks.multi30k.verdicts build/claims --final
    python -m benchmarks.multi30k.verdicts build/claims --claims benchmarks/multi30k/claims/prato.toml --final \
        --output benchmarks/records/multi30k/claims-prato.json

A file lists the networks and the claims, by default benchmarks/multi30k/claims/claims.toml. The folder holds, for each
network, a run in which `benchmarks.multi30k.compression` has compressed it, and the record of that, as captions/ and
captions.json; or `benchmarks.multi30k.pytorch_tables`, as captions-pytorch.json. For each claim and network, both
models translate the test sets, and the paired bootstrap compares them. A claim that one should be better than another,
by `least` BLEU, is

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
from benchmarks.multi30k.claim_networks import Claim, Claims
from benchmarks.record_files import write_record
from pocketmt.cores import available_cores
from pocketmt.evaluation.records import provenance
from pocketmt.evaluation.tables import Column, plain_table
from pocketmt.toml_file import read_toml

CLAIMS: Final = Path(__file__).parent / "claims" / "claims.toml"
SIGNIFICANT: Final = 0.05
SMALLEST_DIFFERENCE: Final = 0.3  # in BLEU: a smaller gain refutes "better"
COLUMNS: Final = ("claim", "network", "better.bleu:.2f=BLEU", "worse.bleu:.2f=BLEU", "gain:+.2f", "p_value:.3f=p")


def main(arguments: Sequence[str]) -> int:
    """Translate and compare; write the record, print its rows."""
    options = _options(arguments)
    claims: Claims = read_toml(options.claims, Claims)
    if options.recipes:
        print(*(f"{name}={claims.updates}" for name in claims.recipes()))
        return 0
    origin = provenance()
    with ProcessPoolExecutor(min(len(claims.networks), available_cores())) as workers:
        measure = partial(_measure, folder=options.folder, final=options.final, claims=claims)
        measured = list(workers.map(measure, claims.networks))
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


@dataclass(frozen=True)
class _Measured:
    """What one network says of all claims."""

    name: str
    rows: list[dict[str, Any]]  # one for each claim
    scores: dict[str, dict[str, Any]]  # recipe -> facts and scores of its model
    facts: dict[str, Any]


def _measure(name: str, folder: Path, final: bool, claims: Claims) -> _Measured:
    """Compare the models of one network."""
    network = claims.network(name, folder, final)
    return _Measured(name, [network.row(claim) for claim in claims.claims], network.scores, network.facts())


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
    parser.add_argument("--claims", type=Path, default=CLAIMS, help="the file of the claims (default: %(default)s)")
    parser.add_argument("--final", action="store_true", help="decide on the test sets, after all choices are made")
    parser.add_argument("--recipes", action="store_true", help="print the recipes that the claims need, and stop")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "records" / "multi30k" / "claims.json")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(run(main))
