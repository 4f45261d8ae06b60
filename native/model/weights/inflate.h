// Decompression of deflate streams.
#pragma once

#include <cstdint>
#include <span>

namespace pocketmt {

// A raw deflate stream (RFC 1951), and where its bytes go: exactly as many as it holds.
struct DeflateStream {
    std::span<const uint8_t> bytes;
    std::span<uint8_t> output;
};

// Decompresses streams, two at once: the next code of a stream is found only after the one before it, and while the
// processor waits for one stream it can work on another. Throws ModelError if a stream is damaged, has bytes after its
// end, or does not hold exactly as many bytes as its output; it does not say which.
void inflate(std::span<const DeflateStream> streams);

}  // namespace pocketmt
