"""Tries of options of the search, of formats and of scores of existing translations."""

from .case import Case

TRANSLATE = "translate -m model.pocketmt"
EVALUATE = "evaluate -r dev.up"
TABLE = "id\ttext\n1\tred cat\n"
RECORDS = '{"text": "red cat"}\n{"text": 7}\n'

SEARCH = [
    Case(f"{TRANSLATE} --repetition-penalty 0 -i dev.en", ("--repetition-penalty", "0"), 2),
    Case(f"{TRANSLATE} --no-repeat-ngram 0 -i dev.en", ("--no-repeat-ngram", "0"), 2),
    Case(f"{TRANSLATE} --max-length 0 -i dev.en", ("--max-length", "0"), 2),
    Case(f"{TRANSLATE} --seed -1 -i dev.en", ("--seed", "-1"), 2),
    Case(f"{TRANSLATE} --sample --temperature 0 -i dev.en", ("--temperature", "0"), 2),
    Case(f"{TRANSLATE} --sample --top-k 0 -i dev.en", ("--top-k", "0"), 2),
    Case(f"{TRANSLATE} --sample --top-p 1.5 -i dev.en", ("--top-p", "1.5"), 2),
    Case(f"{TRANSLATE} --temperature 2 -i dev.en", ("--temperature", "--sample"), 2),
    Case(f"{TRANSLATE} --batch-size 0 -i dev.en", ("--batch-size", "0"), 2),
    Case(f"{TRANSLATE} --longest-sentence 0 -i dev.en", ("--longest-sentence", "0"), 2),
    Case(f"{TRANSLATE} --token-scores -i dev.en", ("--token-scores", "--json"), 2),
    Case(f"{TRANSLATE} --suppress '' -i dev.en", ("--suppress", "empty text")),
    Case(f"{TRANSLATE} --terms missing.tsv -i dev.en", ("missing.tsv", "cannot be read")),
    Case(f"{TRANSLATE} --terms t.tsv -i dev.en", ("t.tsv", "has no terms"), files={"t.tsv": "\n"}),
    Case(f"{TRANSLATE} --terms t.tsv -i dev.en", ("t.tsv, line 2", "a tab"), files={"t.tsv": "red\tRED\ncat CAT\n"}),
    Case(f"{TRANSLATE} --terms t.tsv -i dev.en", ("t.tsv, line 1", "a tab"), files={"t.tsv": "red\t\n"}),
    Case(f"{TRANSLATE} --terms t.tsv -i dev.en", ("t.tsv, line 2", "RED"), files={"t.tsv": "red\tRED\nred\tA\n"}),
    Case(
        f"{TRANSLATE} --terms t.tsv -i dev.en",
        ("'red cat' and 'red  cat'", "'CAT' and 'DOG'"),
        files={"t.tsv": "red cat\tCAT\nred  cat\tDOG\n"},
    ),
    Case(f"{TRANSLATE} --terms t.tsv --sample -i dev.en", ("--sample",), 2, files={"t.tsv": "red\tRED\n"}),
]
FORMATS = [
    Case(f"{TRANSLATE} --format docx -i dev.en", ("docx", "tsv"), 2),
    Case(f"{TRANSLATE} -i t.tsv --column 9", ("t.tsv", "9"), files={"t.tsv": TABLE}),
    Case(f"{TRANSLATE} -i t.tsv --column price", ("t.tsv", "price"), files={"t.tsv": TABLE}),
    Case(f"{TRANSLATE} -i t.jsonl --field body -o x.jsonl", ("t.jsonl", "body"), files={"t.jsonl": RECORDS}),
    Case(f"{TRANSLATE} -i t.jsonl -o x.jsonl", ("t.jsonl", "line 2", "text"), files={"t.jsonl": RECORDS}),
    Case(f"{TRANSLATE} -i t.jsonl -o x.jsonl", ("t.jsonl", "line 1"), files={"t.jsonl": "red cat\n"}),
    Case(f"{TRANSLATE} -i t.tmx -o x.tmx", ("t.tmx",), files={"t.tmx": "red cat\n"}),
    Case(f"{TRANSLATE} -i t.tmx -o x.tmx", ("t.tmx",), files={"t.tmx": "<tmx><body>"}),
    Case(f"{TRANSLATE} -i dev.en --column 2", ("--column",), 2),
]
SCORES = [
    Case(f"{EVALUATE} -t missing.up", ("missing.up", "cannot be read")),
    Case(f"{EVALUATE} -t short.up", ("short.up", "8")),
    Case(f"{EVALUATE} -t dev.up -m model.pocketmt -s dev.en", ("--model", "--translations"), 2),
    Case(f"{EVALUATE} -t dev.up --baseline missing.up", ("missing.up",)),
    Case(f"{EVALUATE} -m model.pocketmt", ("--source",), 2),
    Case(EVALUATE, ("--model", "--translations"), 2),
]
SIDES = [
    Case("clean train.en train.en -o x.en x.up", ("train.en", "both sides")),
    Case("clean train.en train.up -o memory://x x.up", ("memory://x", "is an address", "give a path"), 2),
    Case("shortlist model.pocketmt -s train.en -t train.en -o x.pocketmt", ("train.en", "both sides")),
    Case("evaluate -m model.pocketmt -s dev.en -r dev.en", ("dev.en", "both sides")),
]
CASES = [*SEARCH, *FORMATS, *SCORES, *SIDES]
