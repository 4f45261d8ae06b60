"""Tries of `pocketmt train` and `pocketmt pack`."""

from .case import Case
from .world import TRAINING


def edited(old: str, new: str, *names: str) -> Case:
    """Return a training with an edited configuration."""
    assert old in TRAINING, old
    return Case("train bad.toml -o new", names, files={"bad.toml": TRAINING.replace(old, new, 1)})


def setting(line: str, *names: str) -> Case:
    """Return a training with another line in its [training] table."""
    return edited("threads = 1", f"threads = 1\n{line}", *names)


def text(old: str, new: str, *names: str) -> Case:
    """Return a training with another file of text."""
    return edited(f'"{old}"', f'"{new}"', *names)


KEYS = [
    edited("threads = 1", "treads = 1", "bad.toml", "training", "treads", "allowed", "threads"),
    edited("[training]", "[trainig]", "bad.toml", "trainig", "allowed", "training"),
    edited("encoder_layers", "encodr_layers", "bad.toml", "model", "encodr_layers", "encoder_layers"),
    edited("source_language", "sorce_language", "bad.toml", "data", "sorce_language", "source_language"),
    edited('source_language = "en"\n', "", "bad.toml", "source_language"),
    edited('validation_target = "dev.up"\n', "", "bad.toml", "dev.en", "target"),
    edited("[data]", "[data", "bad.toml"),
    edited("[data]", "[daten]", "bad.toml", "daten"),
    edited("vocabulary_size = 48", "vocabulary_size = 48\nvocabulary_size = 49", "bad.toml"),
    edited('"en"', '"en', "bad.toml"),
    Case("train bad.toml -o new", ("bad.toml", "data"), files={"bad.toml": ""}),
    Case("train bad.toml -o new", ("bad.toml",), files={"bad.toml": b"\xff\xfe\x00\x01"}),
    Case("train bad.toml -o new", ("bad.toml",), files={"bad.toml": '{"data": {}}'}),
    Case("train recipe.toml -o new", ("recipe.toml", "pocketmt compress")),
    Case("train pipeline.toml -o new", ("pipeline.toml", "pocketmt pipeline")),
    Case("train train.en -o new", ("train.en",)),
    Case("train model.pocketmt -o new", ("model.pocketmt",)),
    Case("train missing.toml -o new", ("missing.toml", "cannot be read")),
    Case("train folder -o new", ("folder", "cannot be read")),
    Case("train", ("CONFIGURATION",), 2),
    Case("train train.toml", ("--output",), 2),
    Case("train train.toml -o", ("-o",), 2),
    Case("train train.toml train.toml -o new", ("train.toml",), 2),
    Case("train train.toml -o new --threads 2", ("--threads",), 2),
]
VALUES = [
    edited("threads = 1", 'threads = "one"', "bad.toml", "threads", "int"),
    edited("threads = 1", "threads = -1", "bad.toml", "threads"),
    edited("batch_tokens = 96", "batch_tokens = 0", "bad.toml", "batch_tokens"),
    edited("batch_tokens = 96", "batch_tokens = 9.5", "bad.toml", "batch_tokens"),
    edited("maximum_updates = 2", "maximum_updates = 0", "bad.toml", "maximum_updates"),
    setting("learning_rate = 0", "bad.toml", "learning_rate"),
    setting("learning_rate = -1e-3", "bad.toml", "learning_rate"),
    setting("learning_rate = nan", "bad.toml", "learning_rate"),
    setting("learning_rate = inf", "bad.toml", "learning_rate"),
    setting("clip_norm = 0", "bad.toml", "clip_norm"),
    setting("label_smoothing = 1", "bad.toml", "label_smoothing"),
    setting('objective = "translations"', "bad.toml", "objective", "word_distillation"),
    setting('objective = "word_distillation"', "bad.toml", "word_distillation", "teacher"),
    setting('teacher = "run"', "bad.toml", "teacher"),
    setting('precision = "float16"', "bad.toml", "precision", "bfloat16-mixed"),
    setting("decay_updates = 5", "bad.toml", "decay_updates", "maximum_updates"),
    setting("patience = 0", "bad.toml", "patience"),
    setting("averaged_checkpoints = 0", "bad.toml", "averaged_checkpoints"),
    setting("devices = 0", "bad.toml", "devices"),
    setting("seed = 1.5", "bad.toml", "seed"),
    setting(f"seed = {2**70}", "bad.toml", "seed"),
    edited("encoder_layers = 1", "encoder_layers = 0", "bad.toml", "encoder_layers"),
    edited("model_dimension = 16", "model_dimension = 15", "bad.toml", "dimension"),
    edited("attention_dimension = 16", "attention_heads = 3", "bad.toml", "attention"),
    edited("encoder_layers = 1", 'preset = "huge"', "bad.toml", "huge", "tiny"),
    edited("encoder_layers = 1", "dropout = 1.0", "bad.toml", "dropout"),
    edited("encoder_layers = 1", 'norm = "middle"', "bad.toml", "norm", "post"),
    edited("vocabulary_size = 48", "vocabulary_size = 4", "bad.toml", "vocabulary_size"),
    edited("vocabulary_size = 48", "vocabulary_size = 20", "20 pieces", "too small"),
    edited("vocabulary_size = 48", "vocabulary_size = 9000", "9000 pieces", "at most"),
]
TEXTS = [
    text("train.en", "missing.en", "missing.en", "cannot be read"),
    text("train.up", "short.up", "train.en has 60 lines", "short.up has 1"),
    text("train.en", "folder", "folder", "cannot be read"),
    text("train.en", "latin.en", "latin.en, line 2", "not UTF-8", "convert"),
    text("train.en", "binary.en", "binary.en", "not UTF-8"),
    text("train.en", "cut.en.gz", "cut.en.gz", "broken gzip"),
    text("train.en", "plain.en.gz", "plain.en.gz", "broken gzip"),
    text("dev.en", "missing.en", "missing.en", "cannot be read"),
    text("dev.up", "short.up", "dev.en has 8 lines", "short.up has 1"),
    text("dev.en", "empty.en", "empty.en has 0 lines"),
    edited('"train.en"\ntraining_target = "train.up"', '"empty.en"\ntraining_target = "empty.up"', "empty.en", "empty"),
    edited('"train.en"\ntraining_target = "train.up"', '"blank.en"\ntraining_target = "blank.up"', "empty"),
    edited('training_source = "train.en"', 'training_source = ["train.en", "dev.en"]', "training_source", "2 files"),
    edited('training_source = "train.en"', "training_source = []", "training_source"),
    edited('training_source = "train.en"', "training_source = 3", "training_source"),
    edited("vocabulary_size = 48", 'vocabulary = "missing.model"', "missing.model", "cannot be read"),
    edited("vocabulary_size = 48", 'vocabulary = "train.en"', "train.en", "not a SentencePiece model"),
    edited("vocabulary_size = 48", 'vocabulary = "folder"', "folder/vocabulary.model", "cannot be read"),
    edited("vocabulary_size = 48", 'vocabulary = "cut.pocketmt"', "cut.pocketmt"),
    edited("vocabulary_size = 48", "vocabulary_size = 48\nmaximum_length = 1", "after cleaning", "too long"),
    edited("vocabulary_size = 48", "maximum_ratio = 0.5", "bad.toml", "maximum_ratio"),
    edited("vocabulary_size = 48", "maximum_ratio = inf", "bad.toml", "maximum_ratio", "finite"),
    edited(
        "vocabulary_size = 48", 'vocabulary_size = 48\nvocabulary = "run"', "bad.toml", "vocabulary_size", "no effect"
    ),
    edited(
        "vocabulary_size = 48", 'segmentation = "unigram"\nvocabulary = "run"', "bad.toml", "segmentation", "no effect"
    ),
    Case(
        "train bad.toml -o new",
        ("bad.toml", "compiled", "no effect", "lstm.tiny"),
        files={
            "bad.toml": TRAINING[: TRAINING.index("[model]")]
            + '[model]\npreset = "lstm.tiny"\n[training]\ncompiled = true'
        },
    ),
    setting("cross_entropy_weight = 0.25", "bad.toml", "cross_entropy_weight", "no effect", "mixed"),
    setting('objective = "mixed"\nteacher = "missing"', "missing"),
    setting('objective = "mixed"\nteacher = "run"', "run", "vocabulary"),
    setting('objective = "mixed"\nteacher = "cut"', "cut/model.safetensors"),
    setting("learning_rate = 1e38\nwarmup_updates = 1", "diverged", "learning_rate", "warmup_updates"),
]
FOLDERS = [
    Case("train train.toml -o run", ("run", "another configuration", "choose another folder")),
    Case("train train.toml -o ''", ("the path is empty",), 2),
    Case("train train.toml -o train.en", ("train.en", "is a file")),
    Case("train train.toml -o train.en/new", ("train.en/new", "cannot be created")),
    Case("train train.toml -o /proc/new", ("/proc/new", "cannot be created")),
]
PACK = [
    Case("pack missing -o x.pocketmt", ("missing: no such folder", "pocketmt train")),
    Case("pack folder -o x.pocketmt", ("folder/model.safetensors", "pocketmt train")),
    Case("pack model.pocketmt -o x.pocketmt", ("model.pocketmt",)),
    Case("pack train.toml -o x.pocketmt", ("train.toml",)),
    Case("pack cut -o x.pocketmt", ("cut/model.safetensors", "not a weights file")),
    Case("pack nan -o x.pocketmt", ("nan/model.safetensors", "embedding.weight", "NaN")),
    Case("pack wordless -o x.pocketmt", ("wordless/vocabulary.model", "restore")),
    Case("pack run -o missing/x.pocketmt", ("missing", "create it first")),
    Case("pack run -o folder", ("folder is a folder",)),
    Case("pack run -o /dev/null", ("/dev/null", "regular file")),
    Case("pack run", ("--output",), 2),
    Case("pack -o x.pocketmt", ("RUN",), 2),
    Case("pack run -s int8 -o x.pocketmt", ("int8", "uniform8"), 2),
    Case("pack run other -o x.pocketmt", ("other",), 2),
]
CASES = [*KEYS, *VALUES, *TEXTS, *FOLDERS, *PACK]
