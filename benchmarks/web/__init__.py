"""The engine in WebAssembly: size, start, memory, equality of tokens and speed compared with other engines in Node."""
