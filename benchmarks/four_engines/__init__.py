"""One student in four engines: PocketMT's, fxtranslate, bergamot's WebAssembly in Node, and CTranslate2."""
