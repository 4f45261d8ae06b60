#!/usr/bin/env bash
# Makes the two bundled models of everyday sentences, from the root of the repository and in about two hours on two
# cores with bfloat16. A second call resumes.
set -euo pipefail
tatoeba=${POCKETMT_DATA:-../shared/data}/tatoeba
build=build/everyday
teacher=examples/demo/teacher.pocketmt # What pocket.toml trains, from the pairs alone, in 8 bits.
terms=(--licence "CC BY 2.0 FR; data: www.manythings.org/anki and tatoeba.org")

# made FILE COMMAND...: run a command unless its result exists.
made() { [[ -e $1 ]] || "${@:2}"; }

mkdir -p $build
made $build/family/text/plain.en python -m examples.everyday examples/everyday/everyday.toml -o $build/family --only texts
# Translations of the pairs' English, of 8 the one nearest to the reference, and of English without pairs.
made $build/distilled.de pocketmt distill $teacher --parallel "$tatoeba"/train.{en,de} -n 8 -b 8 -o $build/distilled.{en,de}
made $build/plain.de pocketmt distill $teacher --text $build/family/text/plain.en -b 4 -o $build/plain.{en,de}

# German to English: the pairs, and plain English with its translations as the source (back-translation).
made $build/pocket-de-en/model.safetensors pocketmt train examples/everyday/pocket-de-en.toml -o $build/pocket-de-en
made $build/everyday-de-en.pocketmt pocketmt compress $build/pocket-de-en affine4-distilled --limit-updates 1000 \
    --entropy-coding "${terms[@]}" --description "Short everyday sentences, German to English" \
    -o $build/everyday-de-en.pocketmt

# English to German: translations of the pairs' German, without those that are sentences of `val` or `test`.
made $build/translated.en pocketmt translate -m $build/everyday-de-en.pocketmt -o $build/translated.en < "$tatoeba/train.de"
paste $build/translated.en "$tatoeba/train.de" |
    awk -F '\t' 'NR == FNR { held[$0]; next } !($1 in held)' <(cat "$tatoeba"/{val,test}.en) - > $build/back.tsv
cut -f 1 $build/back.tsv > $build/back.en
cut -f 2 $build/back.tsv > $build/back.de
# Training goes on from the weights of the teacher, with all four texts.
made $build/continued.pocketmt pocketmt compress $teacher examples/everyday/continued.toml \
    --configuration examples/everyday/pocket-continued.toml --precision bfloat16-mixed -o $build/continued.pocketmt
made $build/everyday-en-de.pocketmt pocketmt compress $build/continued.pocketmt affine4-distilled --limit-updates 1000 \
    --configuration examples/everyday/pocket-continued.toml \
    --entropy-coding "${terms[@]}" --description "Short everyday sentences, English to German" \
    -o $build/everyday-en-de.pocketmt
