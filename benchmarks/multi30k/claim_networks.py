"""The models into which one network was compressed, as claims of papers compare them: their scores and translations."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import msgspec

from benchmarks.multi30k.model_record import Outputs, against
from benchmarks.multi30k.pytorch_tables import translations_file
from benchmarks.multi30k.quality import BEAM, score_entry, translate_sets
from benchmarks.multi30k.texts import TEXTS, Texts
from benchmarks.record_files import read_record
from pocketmt.errors import ConfigurationError
from pocketmt.evaluation.quality import score

CONTROL: Final = "control"


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
    translated_by: Literal["engine", "pytorch"] = "engine"
    beam: int = BEAM  # of PyTorch's translations

    def recipes(self) -> list[str]:
        """Return the names of all recipes, in the order of the claims."""
        names = (name for claim in self.claims for name in (claim.better, claim.worse) if name != CONTROL)
        return list(dict.fromkeys(names))

    def network(self, name: str, folder: Path, final: bool) -> "Network":
        """Return one network, whose run and record are in `folder`; `final`: compare on the test sets.

        ConfigurationError says how to make the record if there is none.
        """
        texts = TEXTS[self.networks[name]]
        if self.translated_by == "engine":
            return EngineNetwork(folder / name, texts, final)
        return PytorchNetwork(folder / name, texts, final, self.beam)


class Network(ABC):
    """The models of one network.

    Attributes:
        name: of the network.
        scores: recipe -> scores on all sets together, and what the record of the compression says of the model.
    """

    program: ClassVar[str]  # that compresses
    ending: ClassVar[str]  # of its record
    facts_of_row: ClassVar[tuple[str, ...]]

    def __init__(self, run: Path, texts: Texts, final: bool) -> None:
        """Read the record of the compression; ConfigurationError says how to make it if there is none."""
        path = run.with_name(run.name + self.ending)
        if not path.exists():
            command = f"python -m {self.program} {run} RECIPES --texts {texts.name} --output {path}"
            raise ConfigurationError(f"{path} does not exist: run `{command}`; --recipes prints the names")
        self.name, self.folder, self.texts, self.final = run.name, run / "recipes", texts, final
        self.record = read_record(path)
        self.known: dict[str, Any] = {row["recipe"]: row for row in self.record["rows"]}
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
            difference |= against(self.test_outputs(worse), self.test_outputs(better), self.texts)
        return {"paper": claim.paper, "claim": claim.claim, "network": self.name, **scores, **difference}

    def _recipe(self, name: str, other: str) -> str:
        """Return the recipe of one side of a claim: for "control", the equal control of the other side."""
        if name == CONTROL and other in self.known:
            name = self.control(self.known[other])
        if name not in self.known:
            raise ConfigurationError(f"{self.name}: its record has no row of {other if name == CONTROL else name}")
        return name

    def _scores(self, recipe: str) -> dict[str, Any]:
        if recipe not in self.scores:
            if self.final:
                quality = score(self.texts.pooled(self.test_outputs(recipe)), *self.texts.pooled_references())
                scores = score_entry(quality)
            else:
                scores = self.validation_scores(recipe)
            self.scores[recipe] = {key: self.known[recipe][key] for key in self.facts_of_row} | scores
        return self.scores[recipe]

    @staticmethod
    @abstractmethod
    def control(row: Mapping[str, Any]) -> str:
        """Return the recipe of the equal control of a row."""

    @abstractmethod
    def test_outputs(self, recipe: str) -> Outputs:
        """Return the translations of the test sets."""

    @abstractmethod
    def validation_scores(self, recipe: str) -> dict[str, Any]:
        """Return the scores on the validation set."""


class EngineNetwork(Network):
    """A network compressed by benchmarks.multi30k.compression; the engine translates with the model files."""

    program = "benchmarks.multi30k.compression"
    ending = ".json"
    facts_of_row = ("recipe", "bits", "bytes", "updates", "best_updates", "perplexity")

    def __init__(self, run: Path, texts: Texts, final: bool) -> None:
        """Read the record."""
        super().__init__(run, texts, final)
        self._sets = texts.tests if final else (texts.validation,)
        self._translated: dict[str, Outputs] = {}

    @staticmethod
    def control(row: Mapping[str, Any]) -> str:
        """Return the recipe of the equal control of a row."""
        name: str = row["control"]["recipe"]
        return name

    def test_outputs(self, recipe: str) -> Outputs:
        """Translate the test sets."""
        return self._outputs(recipe)

    def validation_scores(self, recipe: str) -> dict[str, Any]:
        """Translate the validation set, and score it."""
        validation = self.texts.validation
        return score_entry(score(self._outputs(recipe)[validation], *self.texts.reference_lines(validation)))

    def _outputs(self, recipe: str) -> Outputs:
        if recipe not in self._translated:
            path = self.folder / f"{recipe}.pocketmt"
            self._translated[recipe] = translate_sets(path, self._sets, self.texts)
        return self._translated[recipe]


class PytorchNetwork(Network):
    """A network compressed by benchmarks.multi30k.pytorch_tables, which translated with it as it was trained."""

    program = "benchmarks.multi30k.pytorch_tables"
    ending = "-pytorch.json"
    facts_of_row = ("recipe", "weight_bits", "activation_bits", "updates", "best_update", "diverged", "perplexity")

    def __init__(self, run: Path, texts: Texts, final: bool, beam: int) -> None:
        """Read the record; `beam`: of its translations of the test sets."""
        super().__init__(run, texts, final)
        self._beam = beam

    @staticmethod
    def control(row: Mapping[str, Any]) -> str:
        """Return the recipe of the equal control of a row."""
        name: str = row["against"]["baseline"]
        return name

    def test_outputs(self, recipe: str) -> Outputs:
        """Read the translations of the test sets; ConfigurationError if there are none."""
        path = translations_file(self.folder, recipe, self._beam)
        if not path.exists():
            raise ConfigurationError(
                f"{path} does not exist: run {self.program} again with --final --beam {self._beam}"
            )
        outputs: Outputs = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str]])
        return outputs

    def validation_scores(self, recipe: str) -> dict[str, Any]:
        """Return the scores of the record, by greedy search."""
        scores: dict[str, Any] = self.known[recipe][self.texts.validation]
        return scores
