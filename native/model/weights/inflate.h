// Decompression of deflate streams.
#pragma once

#include <cstdint>
#include <span>

namespace pocketmt {

// Decompresses a raw deflate stream (RFC 1951). Throws ModelError if the stream is damaged, has bytes after its end, or
// does not hold exactly as many bytes as `output`.
void inflate(std::span<const uint8_t> stream, std::span<uint8_t> output);

}  // namespace pocketmt
