/** Parts of the package, for tests alone. */
export { Engine } from "./engine.js";
export { readModelFile } from "./model/model_file.js";
export { Decompressor } from "./model/decompressor.js";
export { withoutAddedMark } from "./lines.js";
export { encodeLine } from "./sentences/segments.js";
export { Names } from "./sentences/names.js";
export { UnknownWords } from "./sentences/unknown_words.js";
export { translationSpans } from "./sentences/spans.js";
export { SentencePiece } from "./text/sentencepiece.js";
export { WordFilter } from "./text/word_filter.js";
export { Vocabulary } from "./text/vocabulary.js";
export { LocalTranslator, hasRelaxedSimd } from "./local.js";
export { withDecimals } from "./sentences/decimals.js";
export { losesParts } from "./sentences/lost.js";
export { numberFormats } from "./sentences/numbers.js";
export { withStandIns } from "./sentences/stand_ins.js";
