// Decompression of xz streams, as far as model files use them: blocks of LZMA2 alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pocketmt::web {

// Decompresses one stream (The .xz File Format, version 1.2.1). Checksums are not compared, because the digest of the
// model file covers the stream. Throws ModelError if the stream is damaged, has bytes after its end, or holds more than
// `most` bytes.
std::vector<uint8_t> decompress_xz(std::span<const uint8_t> stream, size_t most);

}  // namespace pocketmt::web
