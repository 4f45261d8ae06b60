"""BLEU counts the tokens of the text's script, in scores, comparisons and agreement."""

import pytest
from sacrebleu.metrics.bleu import BLEU

from pocketmt.evaluation.comparison.outputs import agree
from pocketmt.evaluation.quality import compare, score
from pocketmt.evaluation.tokenization import evaluation_tokenization

CHINESE = ["我们明天上午在图书馆见面。", "他说 (iPhone) 太贵了,没有买。"]
JAPANESE = ["明日の午前に図書館で会いましょう。", "彼は高すぎると言って買わなかった。"]
THAI = ["พรุ่งนี้เจอกันที่ห้องสมุดนะ"]
TEXTS = {
    "Chinese": (CHINESE, "zh"),
    "Chinese that quotes a Japanese word": ([*CHINESE * 10, "这个词是「ありがとう」。"], "zh"),
    "Japanese": (JAPANESE, "char"),
    "Thai": (THAI, "char"),
    "Thai that quotes Chinese": ([*THAI, "คำว่า 中 แปลว่ากลาง"], "char"),
    "Khmer that quotes Chinese": (["ពាក្យ 中 មានន័យថាកណ្តាល"], "char"),
    "Korean": (["내일 오전에 도서관에서 만나요."], "13a"),
    "German": (["Wir treffen uns morgen."], "13a"),
    "German that quotes Chinese": (["Das Wort für Bibliothek ist 图书馆."], "13a"),
    "short phrases": (["Ja", "Nein"], "13a"),
    "empty lines": (["", ""], "13a"),
}


@pytest.mark.parametrize(("references", "expected"), TEXTS.values(), ids=TEXTS)
def test_the_script_decides(references: list[str], expected: str) -> None:
    assert evaluation_tokenization(references) == expected
    assert f"tok:{expected}|" in score(references, references).bleu.signature


def test_chinese_scores_are_those_of_sacrebleu_for_chinese() -> None:
    translations = ["我们明天下午在图书馆见面。", "他说iPhone太贵了,没有买。"]
    found = score(translations, CHINESE)
    assert found.bleu.value == pytest.approx(BLEU(trg_lang="zh").corpus_score(translations, [CHINESE]).score)
    assert 50 < found.bleu.value < 100
    lowercased = score([line.replace("iPhone", "IPHONE") for line in translations], CHINESE)
    assert lowercased.bleu_lowercased.value == pytest.approx(found.bleu.value)


def test_comparisons_and_agreement_count_the_same_tokens() -> None:
    translations = [line.replace("午前", "午後") for line in JAPANESE]
    bleu, _ = compare(translations, JAPANESE, JAPANESE, samples=20)
    assert "tok:char|" in bleu.signature
    assert bleu.baseline == pytest.approx(score(translations, JAPANESE).bleu.value)
    assert agree(JAPANESE, translations).bleu == pytest.approx(bleu.baseline)
