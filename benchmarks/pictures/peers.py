"""Time a sentence of PocketMT and other engines: a panel for each case, a bar for each engine and its weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from benchmarks.pictures.bars import Bar, Panel, draw_panels
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.tables import look_up

CASES: Final = {
    "one by one, greedy": "one sentence at a time, greedy",
    "one by one, beam 4": "one sentence at a time, beam 4",
    "batches, greedy": "batches, greedy",
    "batches, beam 4": "batches, beam 4",
}
MEDIAN: Final = "milliseconds_per_sentence"
WEIGHTS: Final = {
    "float32": "32",
    "int8": "8",
    "uniform8": "8",
    "logarithmic4": "4",
    "mixed2.6": "2.6",
}
OURS: Final = {
    "float32": "ours-32",
    "uniform8": "ours-8",
    "logarithmic4": "ours-4",
    "mixed2.6": "ours-2",
}
LEFT_OUT: Final = "uniform7"  # as fast as 8 bits with AVX-512 VNNI
PEERS: Final = {"CTranslate2": "peer-1", "Marian": "peer-2"}
DECODERS: Final = "decoder: 6-2.tiny self-attention, 12-1.tiny SSRUs"
STAR: Final = " *"  # Marks a peer that is faster without a shortlist.
CONDITIONS: Final = "random weights, forced length, one core"
RATIO: Final = "in brackets: times as fast as the fastest other engine; 4 bit: log scale"


@dataclass(frozen=True)
class Place:
    """Selects the measurements of a panel from a record."""

    model: str
    decoder: str
    shortlist: bool
    case: str

    def of(self, record: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
        """Return the matching `rows` or `measurements` of the record; ConfigurationError if there are none."""
        here = vars(self).items()
        found = [each for each in look_up(record, key) if all(each.get(name) == value for name, value in here)]
        if not found:
            raise ConfigurationError(f"the record has no {key} of {', '.join(f'{n} {v}' for n, v in here)}")
        return found


def draw_base(record: Mapping[str, Any]) -> str:
    """Draw `base` in every case; ConfigurationError if the record lacks one."""
    panels = [
        Panel(title, bars(record, Place("base, random weights", "self-attention", False, case)))
        for case, title in CASES.items()
    ]
    return draw_panels("Milliseconds a sentence, 60 million weights", [CONDITIONS, RATIO], panels)


def draw_students(record: Mapping[str, Any], deep_record: Mapping[str, Any]) -> str:
    """Draw a student of each record with a shortlist; ConfigurationError if a record lacks a case."""
    columns = (
        (record, "6-2.tiny, random weights", "self-attention", "6-2.tiny"),
        (deep_record, "12-1.tiny, random weights", "ssru", "12-1.tiny"),
    )
    panels = [
        Panel(f"{name}: {case}", bars(of_model, Place(model, decoder, True, case)))
        for case in CASES
        for of_model, model, decoder, name in columns
    ]
    marked = any(bar.name.endswith(STAR) for panel in panels for bar in panel.bars)
    conditions = f"{CONDITIONS};{STAR}: faster without a shortlist" if marked else CONDITIONS
    return draw_panels("Milliseconds a sentence of students with a shortlist", [conditions, DECODERS, RATIO], panels)


def bars(record: Mapping[str, Any], place: Place) -> list[list[Bar]]:
    """Return the bars of a panel in groups: 32 bits, then 8 and fewer.

    A peer that is faster without a shortlist is shown without one. Raises ConfigurationError if the record lacks the
    place, or has unknown weights.
    """
    rows = place.of(record, "rows")
    unlisted = {
        _key(side): float(look_up(side, MEDIAN))
        for each in replace(place, shortlist=False).of(record, "measurements")
        for side in look_up(each, "sides")
    }
    groups = []
    for measurement in place.of(record, "measurements"):
        sides = look_up(measurement, "sides")
        peers = [_peer(side, unlisted) for side in sides if look_up(side, "side") in PEERS]
        fastest = min(peer.value for peer in peers)
        shown = (side for side in sides if look_up(side, "side") not in PEERS and look_up(side, "weights") != LEFT_OUT)
        ours = [_ours(side, rows, fastest) for side in shown]
        groups.append([*peers, *ours])
    return groups


def _peer(side: Mapping[str, Any], unlisted: Mapping[tuple[str, str], float]) -> Bar:
    engine, weights = _key(side)
    milliseconds = float(look_up(side, MEDIAN))
    faster = unlisted.get((engine, weights), milliseconds)
    star = STAR if faster < milliseconds else ""
    least = min(milliseconds, faster)
    return Bar(f"{engine} {WEIGHTS[weights]} bit{star}", PEERS[engine], least, _written(least))


def _ours(side: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], fastest_peer: float) -> Bar:
    engine, weights = _key(side)
    compared = [row for row in rows if look_up(row, "weights") == weights]
    if weights not in OURS or not compared:
        raise ConfigurationError(f"no color, or no rows, of the weights {weights} of {engine}")
    milliseconds = float(look_up(side, MEDIAN))
    row = min(compared, key=lambda row: float(look_up(row, "peer_milliseconds")))
    # The rows have the median of the rounds' ratios, but only of peers with the same shortlist.
    ratio = float(look_up(row, "speed_ratio"))
    if fastest_peer < float(look_up(row, "peer_milliseconds")):
        ratio = fastest_peer / milliseconds
    number = f"{_written(milliseconds)} ({ratio:.1f}×)"
    return Bar(f"{engine} {WEIGHTS[weights]} bit", OURS[weights], milliseconds, number, bold=True)


def _written(milliseconds: float) -> str:
    return f"{milliseconds:.0f}" if milliseconds >= 100 else f"{milliseconds:.1f}"


def _key(side: Mapping[str, Any]) -> tuple[str, str]:
    return look_up(side, "side"), look_up(side, "weights")
