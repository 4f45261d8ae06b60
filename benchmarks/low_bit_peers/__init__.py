"""The products of few bits beside those of ggml, the library of llama.cpp."""
