#!/usr/bin/env bash
# Makes the two bundled models of everyday sentences, from the root of the repository and in about three hours of one
# core with bfloat16. A second call resumes.
set -euo pipefail
tatoeba=${POCKETMT_DATA:-../shared/data}/tatoeba
build=build/everyday
teacher=examples/demo/teacher.pocketmt # What pocket.toml trains, from the pairs alone, in 8 bits.
terms=(--licence "CC BY 2.0 FR; data: www.manythings.org/anki and tatoeba.org")

# made FILE COMMAND...: run a command unless its result exists.
made() { [[ -e $1 ]] || "${@:2}"; }
# continued MODEL NAME UPDATES: go on with the training of a model on the texts of examples/everyday/NAME.toml.
continued() {
    made "$build/$2.pocketmt" pocketmt compress "$1" examples/everyday/continued.toml --limit-updates "$3" \
        --configuration "examples/everyday/$2.toml" --precision bfloat16-mixed -o "$build/$2.pocketmt"
}
# compressed NAME BUNDLED UPDATES DESCRIPTION: the continued model in 4 bits.
compressed() {
    made "$build/$2.pocketmt" pocketmt compress "$build/$1.pocketmt" affine4-distilled --limit-updates "$3" \
        --configuration "examples/everyday/$1.toml" --entropy-coding "${terms[@]}" --description "$4" \
        -o "$build/$2.pocketmt"
}

mkdir -p $build
made $build/family/text/plain.en python -m examples.everyday examples/everyday/everyday.toml -o $build/family --only texts

# Translations of the pairs' English, of 8 the one nearest to the reference, and of English without pairs.
made $build/distilled.de pocketmt distill $teacher --parallel "$tatoeba"/train.{en,de} -n 8 -b 8 -o $build/distilled.{en,de}
made $build/plain.de pocketmt distill $teacher --text $build/family/text/plain.en -b 4 -o $build/plain.{en,de}

# German to English: the pairs, and plain English with its translations as the source (back-translation).
made $build/pocket-de-en/model.safetensors pocketmt train examples/everyday/pocket-de-en.toml -o $build/pocket-de-en
made $build/pocket-de-en.pocketmt pocketmt pack $build/pocket-de-en --scheme float32 -o $build/pocket-de-en.pocketmt

# Translations of the pairs' German, without those that are sentences of `val` or `test`.
made $build/translated.en pocketmt translate -m $build/pocket-de-en.pocketmt -o $build/translated.en < "$tatoeba/train.de"
paste $build/translated.en "$tatoeba/train.de" |
    awk -F '\t' 'NR == FNR { held[$0]; next } !($1 in held)' <(cat "$tatoeba"/{val,test}.en) - > $build/back.tsv
cut -f 1 $build/back.tsv > $build/back.en
cut -f 2 $build/back.tsv > $build/back.de

# Both go on with all four texts.
continued $teacher pocket-en-de-continued 7500
continued $build/pocket-de-en pocket-de-en-continued 4000
compressed pocket-en-de-continued everyday-en-de 1000 "Short everyday sentences, English to German"
compressed pocket-de-en-continued everyday-de-en 600 "Short everyday sentences, German to English"
