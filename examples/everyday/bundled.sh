#!/usr/bin/env bash
# Makes the two bundled models of everyday sentences in seventeen rounds, from the root of the repository and in about
# twenty-eight hours of one core with bfloat16. A second call resumes.
set -euo pipefail
tatoeba=${POCKETMT_DATA:-../shared/data}/tatoeba
build=build/everyday
second=$build/second
third=$build/third
fourth=$build/fourth
fifth=$build/fifth
sixth=$build/sixth
seventh=$build/seventh
eighth=$build/eighth
ninth=$build/ninth
tenth=$build/tenth
eleventh=$build/eleventh
twelfth=$build/twelfth
thirteenth=$build/thirteenth
fourteenth=$build/fourteenth
fifteenth=$build/fifteenth
sixteenth=$build/sixteenth
seventeenth=$build/seventeenth
teacher=examples/demo/teacher.pocketmt # What pocket.toml trains, from the pairs alone, in 8 bits.
plain=$build/family/text/plain.en
terms=(--licence "CC BY 2.0 FR; data: www.manythings.org/anki and tatoeba.org")

# made FILE COMMAND...: run a command unless its result exists.
made() { [[ -e $1 ]] || "${@:2}"; }
# distilled EN_DE FOLDER: translations of the pairs' English, of 8 the one nearest to the reference, and of English
# without pairs.
distilled() {
    made "$2/distilled.de" pocketmt distill "$1" --parallel "$tatoeba"/train.{en,de} -n 8 -b 8 -o "$2"/distilled.{en,de}
    made "$2/plain.de" pocketmt distill "$1" --text $plain -b 4 -o "$2"/plain.{en,de}
}
# translated_back DE_EN FOLDER: translations of the pairs' German, without those that are sentences of `val` or `test`.
translated_back() {
    made "$2/translated.en" pocketmt translate -m "$1" -o "$2/translated.en" < "$tatoeba/train.de"
    paste "$2/translated.en" "$tatoeba/train.de" |
        awk -F '\t' 'NR == FNR { held[$0]; next } !($1 in held)' <(cat "$tatoeba"/{val,test}.en) - > "$2/back.tsv"
    cut -f 1 "$2/back.tsv" > "$2/back.en"
    cut -f 2 "$2/back.tsv" > "$2/back.de"
}
# continued MODEL LANGUAGES TEXTS FOLDER RECIPE UPDATES CONFIGURATION: go on with the training of a model on the pairs
# and the texts in the folder TEXTS, and save it in FOLDER.
continued() {
    POCKETMT_TEXTS=$PWD/$3 made "$4/$2.pocketmt" pocketmt compress "$1" "examples/everyday/$5.toml" \
        --limit-updates "$6" --configuration "examples/everyday/pocket-$2-${7:-continued}.toml" \
        --precision bfloat16-mixed -o "$4/$2.pocketmt"
}
# in_8_bits MODEL OUTPUT OPTION...
in_8_bits() { made "$2" pocketmt compress "$1" 8bit --entropy-coding "${terms[@]}" "${@:3}" -o "$2"; }
# phrases LANGUAGES: words and phrases of the pairs with their translations.
phrases() {
    local source=${1%-*} target=${1#*-}
    made "$fifth/phrases-$1.$target" python -m examples.everyday.phrases "$tatoeba/train.$source" "$tatoeba/train.$target" \
        -o "$fifth/phrases-$1.$source" "$fifth/phrases-$1.$target"
}
# numbers LANGUAGES: pairs with other numbers.
numbers() {
    local source=${1%-*} target=${1#*-}
    made "$fifth/numbers-$1.$target" python -m examples.everyday.numbers "$tatoeba/train.$source" "$tatoeba/train.$target" \
        --languages "$source" "$target" -o "$fifth/numbers-$1.$source" "$fifth/numbers-$1.$target"
}
# short_sentences LANGUAGES: the shortest pairs as users type them.
short_sentences() {
    local source=${1%-*} target=${1#*-}
    made "$twelfth/short-$1.$target" python -m examples.everyday.short_sentences "$tatoeba/train.$source" \
        "$tatoeba/train.$target" --language "$source" -o "$twelfth/short-$1.$source" "$twelfth/short-$1.$target"
}
# phrase_book LANGUAGES FOLDER: training text that was written for the project.
phrase_book() {
    local source=${1%-*} target=${1#*-}
    made "$2/phrase-book-$1.$target" python -m examples.everyday.phrase_book "$tatoeba/train.$source" \
        "$tatoeba/train.$target" --languages "$source" "$target" --held-out "$tatoeba"/{val,test}.{en,de}* \
        benchmarks/written_sentences/sentences.tsv \
        -o "$2/phrase-book-$1.$source" "$2/phrase-book-$1.$target"
}
# widened LANGUAGES: the model of the third round with twice the feed-forward nodes.
widened() {
    made "$fourth/start-$1.pocketmt" python -m examples.everyday.widen "$third/$1.pocketmt" \
        --feed-forward-dimension 1536 -o "$fourth/start-$1.pocketmt"
}
# with_known_words MODEL LANGUAGES PAIRS: add the words that pairs translate.
with_known_words() { pocketmt names "$1" --source "$3.${2%-*}" --target "$3.${2#*-}" -o "$1"; }
# bundled MODEL LANGUAGES DESCRIPTION: a model in 8 and in 4 bits, with known words.
bundled() {
    with_known_words "$1" "$2" $seventeenth/known
    in_8_bits "$1" "$build/everyday-$2-8bit.pocketmt" --description "$3"
    POCKETMT_TEXTS=$PWD/$seventeenth made "$build/everyday-$2.pocketmt" pocketmt compress "$1" \
        examples/everyday/four-bits.toml --configuration "examples/everyday/pocket-$2-phrase-book.toml" \
        --precision bfloat16-mixed --entropy-coding "${terms[@]}" --description "$3" -o "$build/everyday-$2.pocketmt"
}

mkdir -p $second $third $fourth $fifth $sixth $seventh $eighth $ninth $tenth/texts $eleventh/texts $twelfth $thirteenth $fourteenth $fifteenth $sixteenth $seventeenth
made $plain python -m examples.everyday examples/everyday/everyday.toml -o $build/family --only texts

# First round. German to English: the pairs, and plain English with its translations as the source (back-translation).
distilled $teacher $build
made $build/pocket-de-en/model.safetensors pocketmt train examples/everyday/pocket-de-en.toml -o $build/pocket-de-en
made $build/pocket-de-en.pocketmt pocketmt pack $build/pocket-de-en --scheme float32 -o $build/pocket-de-en.pocketmt
translated_back $build/pocket-de-en.pocketmt $build
continued $teacher en-de $build $build continued 7500
continued $build/pocket-de-en de-en $build $build continued 4000
in_8_bits $build/en-de.pocketmt $build/first-en-de.pocketmt
in_8_bits $build/de-en.pocketmt $build/first-de-en.pocketmt

# Second round: the models of the first one make the texts.
distilled $build/first-en-de.pocketmt $second
translated_back $build/first-de-en.pocketmt $second
continued $build/first-en-de.pocketmt en-de $second $second continued 7500
continued $build/first-de-en.pocketmt de-en $second $second continued 7500

# Third round: the same texts, at half the rate.
continued $second/en-de.pocketmt en-de $second $third continued-at-half-rate 7500
continued $second/de-en.pocketmt de-en $second $third continued-at-half-rate 7500

# Fourth round: wider networks, on the same texts, at the rate of the first two.
widened en-de
widened de-en
continued $fourth/start-en-de.pocketmt en-de $second $fourth continued 7500
continued $fourth/start-de-en.pocketmt de-en $second $fourth continued 7500
in_8_bits $fourth/en-de.pocketmt $fourth/everyday-en-de-8bit.pocketmt
in_8_bits $fourth/de-en.pocketmt $fourth/everyday-de-en-8bit.pocketmt

# Fifth round: the models of the fourth make the texts, of which some pairs are repeated without final punctuation and
# in lower case.
distilled $fourth/everyday-en-de-8bit.pocketmt $fifth
translated_back $fourth/everyday-de-en-8bit.pocketmt $fifth
continued $fourth/everyday-en-de-8bit.pocketmt en-de $fifth $fifth continued 7500 varied
continued $fourth/everyday-de-en-8bit.pocketmt de-en $fifth $fifth continued 7500 varied

# Sixth round: the same texts, at half the rate.
continued $fifth/en-de.pocketmt en-de $fifth $sixth continued-at-half-rate 5000 varied
continued $fifth/de-en.pocketmt de-en $fifth $sixth continued-at-half-rate 5000 varied

# Seventh round: words and phrases as well.
phrases en-de
phrases de-en
continued $sixth/en-de.pocketmt en-de $fifth $seventh continued-with-phrases 5000 phrases
continued $sixth/de-en.pocketmt de-en $fifth $seventh continued-with-phrases 5000 phrases

# Eighth round: pairs with other numbers as well.
numbers en-de
numbers de-en
continued $seventh/en-de.pocketmt en-de $fifth $eighth continued-with-numbers 4000 numbers
continued $seventh/de-en.pocketmt de-en $fifth $eighth continued-with-numbers 4000 numbers

# Ninth round: pairs with other names, times and dates as well.
made $fifth/names.de python -m examples.everyday.names $tatoeba/train.{en,de} -o $fifth/names.{en,de}
continued $eighth/en-de.pocketmt en-de $fifth $ninth continued-with-names 4000 names
continued $eighth/de-en.pocketmt de-en $fifth $ninth continued-with-names 4000 names

# Tenth round: twice as many of them, English to German alone.
ln -sf $PWD/$fifth/*.{en,de} $tenth/texts
ln -sf $PWD/$fifth/*.{en,de} $eleventh/texts
rm -f {$tenth,$eleventh}/texts/names.*
made $tenth/texts/names.de python -m examples.everyday.names $tatoeba/train.{en,de} --copies 4 -o $tenth/texts/names.{en,de}
continued $ninth/en-de.pocketmt en-de $tenth/texts $tenth continued-with-more-names 3000 names

# Eleventh round: one copy of each, since known words keep names, and pairs in which persons have titles.
made $eleventh/texts/names.de python -m examples.everyday.names $tatoeba/train.{en,de} --copies 1 --titles \
    -o $eleventh/texts/names.{en,de}
continued $tenth/en-de.pocketmt en-de $eleventh/texts $eleventh continued-with-names 4000 names
continued $ninth/de-en.pocketmt de-en $eleventh/texts $eleventh continued-with-names 4000 names

# Twelfth round: the models of the eleventh make the texts. There are pairs with other weekdays, numbers as words and so
# on, and the shortest pairs are repeated in lower case and without final punctuation.
made $twelfth/classes.de python -m examples.everyday.word_classes $tatoeba/train.{en,de} -o $twelfth/classes.{en,de}
ln -sf $PWD/$fifth/{phrases,numbers}-*.{en,de} $PWD/$eleventh/texts/names.{en,de} $twelfth
for languages in en-de de-en; do
    short_sentences $languages
    with_known_words $eleventh/$languages.pocketmt $languages "$tatoeba/train"
    in_8_bits $eleventh/$languages.pocketmt $eleventh/everyday-$languages-8bit.pocketmt
done
distilled $eleventh/everyday-en-de-8bit.pocketmt $twelfth
translated_back $eleventh/everyday-de-en-8bit.pocketmt $twelfth
continued $eleventh/everyday-en-de-8bit.pocketmt en-de $twelfth $twelfth continued-with-classes 4000 classes
continued $eleventh/everyday-de-en-8bit.pocketmt de-en $twelfth $twelfth continued-with-classes 4000 classes

# Thirteenth round: text that was written for the project as well. That text has grown since: the bundled models had it as
# it was at commit d8863a9e.
ln -sf $PWD/$twelfth/*.{en,de} $thirteenth
phrase_book en-de $thirteenth
phrase_book de-en $thirteenth
continued $twelfth/en-de.pocketmt en-de $thirteenth $thirteenth continued-with-phrase-book 4000 phrase-book
continued $twelfth/de-en.pocketmt de-en $thirteenth $thirteenth continued-with-phrase-book 4000 phrase-book

# Fourteenth round: more of that text, as it was at commit 623b6bb0.
ln -sf $PWD/$twelfth/*.{en,de} $fourteenth
phrase_book en-de $fourteenth
phrase_book de-en $fourteenth
continued $thirteenth/en-de.pocketmt en-de $fourteenth $fourteenth continued-with-longer-phrase-book 6000 phrase-book
continued $thirteenth/de-en.pocketmt de-en $fourteenth $fourteenth continued-with-longer-phrase-book 6000 phrase-book

# Fifteenth round: more of that text, much of it with words that were rare in the training text, as it was at commit
# 280beb63. The control had the texts of the fourteenth round: `continued` with $fourteenth in place of the first
# $fifteenth, and another folder in place of the second.
ln -sf $PWD/$twelfth/*.{en,de} $fifteenth
phrase_book en-de $fifteenth
phrase_book de-en $fifteenth
continued $fourteenth/en-de.pocketmt en-de $fifteenth $fifteenth continued-with-longer-phrase-book 5000 phrase-book
continued $fourteenth/de-en.pocketmt de-en $fifteenth $fifteenth continued-with-longer-phrase-book 5000 phrase-book

# Sixteenth round: more of that text, as it was at commit 2145c7eb.
ln -sf $PWD/$twelfth/*.{en,de} $sixteenth
phrase_book en-de $sixteenth
phrase_book de-en $sixteenth
continued $fifteenth/en-de.pocketmt en-de $sixteenth $sixteenth continued-with-longer-phrase-book 5500 phrase-book
continued $fifteenth/de-en.pocketmt de-en $sixteenth $sixteenth continued-with-longer-phrase-book 5500 phrase-book

# Seventeenth round: more of that text.
ln -sf $PWD/$twelfth/*.{en,de} $seventeenth
phrase_book en-de $seventeenth
phrase_book de-en $seventeenth
continued $sixteenth/en-de.pocketmt en-de $seventeenth $seventeenth continued-with-longer-phrase-book 5000 phrase-book
continued $sixteenth/de-en.pocketmt de-en $seventeenth $seventeenth continued-with-longer-phrase-book 5000 phrase-book
for side in en de; do
    cat "$tatoeba/train.$side" $seventeenth/{classes,phrase-book-en-de}."$side" > $seventeenth/known."$side"
done
bundled $seventeenth/en-de.pocketmt en-de "Short everyday sentences, English to German"
bundled $seventeenth/de-en.pocketmt de-en "Short everyday sentences, German to English"
