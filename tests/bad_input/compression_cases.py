"""Tries of `pocketmt compress`, `sensitivity`, `distill` and `pipeline`."""

from .case import Case
from .world import PIPELINE, RECIPE

OUT = "-o x.pocketmt"
BY_TRANSLATIONS = "log4-word-and-sequence-distilled"


def recipe(old: str, new: str, *names: str) -> Case:
    """Return a compression by an edited recipe."""
    assert old in RECIPE, old
    return Case(f"compress run bad.toml {OUT}", names, files={"bad.toml": RECIPE.replace(old, new, 1)})


def pipeline(old: str, new: str, *names: str) -> Case:
    """Return an edited pipeline."""
    assert old in PIPELINE, old
    return Case("pipeline bad.toml -o new", names, files={"bad.toml": PIPELINE.replace(old, new, 1)})


RECIPES = [
    recipe('scheme = "uniform"', 'scheme = "uniforn"', "stages[0].quantize[0]", "uniforn", "uniform"),
    recipe("bits = 8", "bits = 9", "bad.toml", "bits"),
    recipe("bits = 8", "bits = 5", "bits is 5"),
    recipe("bits = 8", 'bits = "8"', "bad.toml", "bits"),
    recipe("bits = 8", "bits = 8\ngranularity = 3", "bad.toml", "granularity"),
    recipe("bits = 8", "bits = 8\noptions = { colour = 1 }", "colour"),
    recipe('["*"]', '["encodr"]', "encodr"),
    recipe('["*"]', "[]", "bad.toml", "matrices"),
    recipe('"straight_through"', '"straight"', "bad.toml", "method", "straight_through"),
    recipe('method = "straight_through"\n', "", "bad.toml", "method"),
    recipe("updates = 2", "updtes = 2", "bad.toml", "updtes", "updates"),
    recipe("updates = 2", "updates = 0", "bad.toml", "updates"),
    recipe("rate = 1e-3", "rate = 0", "bad.toml", "rate"),
    recipe("rate = 1e-3", 'rate = 1e-3, schedule = "cosine"', "bad.toml", "schedule", "linear"),
    recipe('name = "mine"', f'name = "mine"\nseed = {2**70}', "bad.toml", "seed"),
    recipe('name = "mine"', 'name = ""', "bad.toml", "name"),
    recipe('name = "mine"', 'name = "mine"\nstages = []', "bad.toml", "line 3"),
    recipe("updates = 2", 'updates = 2\nobjective = "words"', "bad.toml", "objective", "word_distillation"),
    Case(f"compress run bad.toml {OUT}", ("bad.toml", "stages"), files={"bad.toml": 'name = "mine"\nstages = []\n'}),
    Case(f"compress run train.toml {OUT}", ("train.toml", "pocketmt train")),
    Case(f"compress run 9bit {OUT}", ("9bit", "--list")),
    Case(f"compress run missing.toml {OUT}", ("missing.toml", "cannot be read")),
]
COMPRESS = [
    Case(f"compress missing 8bit {OUT}", ("missing: no such folder", "pocketmt train", "pocketmt import")),
    Case(f"compress model.pocketmt log4-distilled {OUT}", ("model.pocketmt", "--source-text")),
    Case(f"compress cut 8bit {OUT}", ("cut/model.safetensors", "not a weights file")),
    Case(f"compress nan 8bit {OUT}", ("nan/model.safetensors", "NaN")),
    Case(f"compress bare log4-distilled {OUT}", ("bare", "--source-text")),
    Case(f"compress wordless 8bit {OUT}", ("wordless/vocabulary.model",)),
    Case("compress run 8bit-pruned-nodes -o missing/x.pocketmt", ("missing", "create it first")),
    Case("compress run 8bit -o folder", ("folder is a folder",)),
    Case("compress run 8bit -o /dev/null", ("/dev/null",)),
    Case("compress run 8bit", ("--output",), 2),
    Case(f"compress run {OUT}", ("RECIPE", "--target-size"), 2),
    Case(f"compress {OUT}", ("MODEL",), 2),
    Case(f"compress run 8bit --target-size 1MB {OUT}", ("RECIPE", "--target-size"), 2),
    Case(f"compress run --target-size big {OUT}", ("big", "900kB"), 2),
    Case(f"compress run --target-size -5 {OUT}", ("-5",), 2),
    Case(f"compress run --target-size 1kB {OUT}", ("1,000 bytes", "at least")),
    Case(f"compress run --tolerated-loss -1 {OUT}", ("--tolerated-loss", "-1"), 2),
    Case(f"compress run --tolerated-loss much {OUT}", ("--tolerated-loss", "much"), 2),
    Case(f"compress run 8bit --updates 3 {OUT}", ("--updates", "recipe"), 2),
    Case(f"compress run 8bit --limit-updates 0 {OUT}", ("--limit-updates", "0"), 2),
    Case(f"compress run 8bit --precision bfloat16-mixed {OUT}", ("--precision", "no stage of 8bit retrains"), 2),
    Case(f"compress run --target-size 1MB --updates 0 --precision float32 {OUT}", ("--precision", "--updates 0"), 2),
    Case(f"compress run 8bit --precision int8 {OUT}", ("int8", "float32"), 2),
    Case("compress run 8bit --folder new --entropy-coding", ("--entropy-coding", "--output"), 2),
    Case(
        f"compress run log4-word-and-sequence-distilled --source-text missing.en {OUT}",
        ("missing.en", "cannot be read"),
    ),
    Case(f"compress run {BY_TRANSLATIONS} --source-text blank.en {OUT}", ("blank.en",)),
    Case(f"compress run {BY_TRANSLATIONS} --text /dev/stdin {OUT}", ("/dev/stdin", "not a regular file")),
    Case(f"compress run {BY_TRANSLATIONS} --source-text binary.en {OUT}", ("binary.en", "UTF-8")),
    Case(f"compress run 8bit --source-text train.en {OUT}", ("train.en", "objective")),
    Case(f"compress run --target-size 1MB --source-text train.en {OUT}", ("run has its training text", "train.en")),
    Case(f"compress run log4-distilled --configuration missing.toml {OUT}", ("missing.toml", "cannot be read")),
    Case(f"compress run log4-distilled --configuration recipe.toml {OUT}", ("recipe.toml", "pocketmt compress RUN")),
    Case(f"compress run 8bit --folder other {OUT}", ("other is the folder of a training run", "another folder")),
    Case(f"compress run 8bit --folder train.en {OUT}", ("train.en", "is a file")),
]
SENSITIVITY = [
    Case("sensitivity missing", ("missing: no such folder", "pocketmt train")),
    Case("sensitivity model.pocketmt", ("model.pocketmt", "--source-text")),
    Case("sensitivity bare", ("bare", "--source-text")),
    Case("sensitivity model.pocketmt --text /dev/stdin", ("/dev/stdin", "not a regular file")),
    Case("sensitivity run --bits 9", ("--bits", "9", "1 to 8"), 2),
    Case("sensitivity run --bits 4,4", ("--bits", "4,4"), 2),
    Case("sensitivity run --bits four", ("--bits", "four"), 2),
    Case("sensitivity run --bits ''", ("--bits",), 2),
    Case("sensitivity run --bits 8", ("bits is 8", "4,3,2,1")),
    Case("sensitivity run --scheme binry", ("binry", "binary")),
    Case("sensitivity run --option method", ("method", "NAME=VALUE"), 2),
    Case("sensitivity run --option method=best", ("method", "best", "greedy")),
    Case("sensitivity run --option bits=3", ("bits", "--bits")),
    Case("sensitivity run --sentences 0", ("--sentences", "0"), 2),
    Case("sensitivity run --picture x.txt", ("x.txt", ".svg"), 2),
    Case("sensitivity run --picture missing/x.svg", ("missing", "create it first")),
    Case("sensitivity", ("MODEL",), 2),
]
DISTILL = [
    Case("distill run --text missing.en -o x.en x.up", ("missing.en", "cannot be read")),
    Case("distill run --text empty.en -o x.en x.up", ("empty.en", "no line")),
    Case("distill run --text latin.en -o x.en x.up", ("latin.en, line 2", "UTF-8")),
    Case("distill run --text cut.en.gz -o x.en x.up", ("cut.en.gz", "gzip")),
    Case("distill run --text /dev/stdin -o x.en x.up", ("/dev/stdin",)),
    Case("distill missing --text train.en -o x.en x.up", ("missing",)),
    Case("distill folder --text train.en -o x.en x.up", ("folder/model.safetensors",)),
    Case("distill cut.pocketmt --text train.en -o x.en x.up", ("cut.pocketmt",)),
    Case("distill run other --text train.en -o x.en x.up", ("other", "vocabulary")),
    Case("distill run captions-en-de --text train.en -o x.en x.up", ("captions-en-de", "vocabulary")),
    Case("distill run --text train.en -o x.en x.en", ("x.en", "two files")),
    Case("distill run --text train.en -o missing/x.en x.up", ("missing", "create it first")),
    Case("distill run --text train.en -o x.en folder", ("folder is a folder",)),
    Case("distill run --text train.en -o x.en", ("-o",), 2),
    Case("distill run -o x.en x.up", ("--text",), 2),
    Case("distill --text train.en -o x.en x.up", ("TEACHERS",), 2),
    Case("distill run --text train.en -n 3 -o x.en x.up", ("--n-best", "--parallel"), 2),
    Case("distill run --parallel train.en short.up -n 2 -o x.en x.up", ("train.en has 60", "short.up has 1")),
    Case("distill run --parallel train.en train.up -o x.en x.up", ("--n-best",), 2),
    Case("distill run --parallel train.en train.up -n 5 -o x.en x.up", ("--beam-size 5",), 2),
    Case("distill run --text train.en -b 0 -o x.en x.up", ("--beam-size", "0"), 2),
    Case("distill run --text train.en -w 0 -o x.en x.up", ("--workers", "0"), 2),
    Case("distill run --text train.en --folder dev.en -o x.en x.up", ("dev.en", "is a file")),
]
PIPELINES = [
    pipeline('recipe = "8bit"', 'recipe = "9bit"', "9bit", "--list"),
    pipeline('recipe = "8bit"', 'recipe = "missing.toml"', "missing.toml", "cannot be read"),
    pipeline('recipe = "8bit"\n', "", "bad.toml", "recipe"),
    pipeline('"train.toml"', '"missing.toml"', "missing.toml", "cannot be read"),
    pipeline('"train.toml"', '"recipe.toml"', "recipe.toml", "pocketmt compress RUN"),
    pipeline('["run"]', "[]", "bad.toml", "teachers"),
    pipeline('["run"]', '["missing"]', "missing"),
    pipeline('["run"]', '["missing.toml"]', "missing.toml", "cannot be read"),
    pipeline('["run"]', '["folder"]', "folder/model.safetensors"),
    pipeline('["run"]', '["run", "other"]', "other", "vocabulary"),
    pipeline('["run"]', '["cut.pocketmt"]', "cut.pocketmt"),
    pipeline("beam_size = 2", "beam_size = 0", "bad.toml", "beam_size"),
    pipeline("beam_size = 2", "beam_size = 300", "bad.toml", "beam_size", "256"),
    pipeline("beam_size = 2", "n_best = 9", "bad.toml", "n_best 9"),
    pipeline("beam_size = 2", 'texts = ["missing.en"]', "missing.en", "cannot be read"),
    pipeline("top_k = 8", "top_k = 0", "bad.toml", "top_k"),
    pipeline("top_k = 8", "topk = 8", "bad.toml", "topk", "top_k"),
    pipeline("[shortlist]", "[shrtlist]", "bad.toml", "shrtlist", "shortlist"),
    Case("pipeline train.toml -o new", ("train.toml", "pocketmt train")),
    Case("pipeline missing.toml -o new", ("missing.toml", "cannot be read")),
    Case("pipeline pipeline.toml -o train.en", ("train.en", "is a file")),
    Case("pipeline pipeline.toml", ("--output",), 2),
    Case("pipeline", ("CONFIGURATION",), 2),
]
CASES = [*RECIPES, *COMPRESS, *SENSITIVITY, *DISTILL, *PIPELINES]
