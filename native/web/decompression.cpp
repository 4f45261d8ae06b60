// Functions that the WebAssembly module exports to decompress parts of model files; web/source/model/decompressor.ts
// calls them.
#include "model/weights/inflate.h"
#include "web/xz.h"

namespace pocketmt::web {

namespace {

std::vector<uint8_t> decompressed;

}  // namespace

extern "C" {

// Decompresses a raw deflate stream that holds exactly `output_size` bytes.
__attribute__((export_name("inflate"))) void inflate_stream(const uint8_t* stream, size_t size, uint8_t* output,
                                                            size_t output_size) {
    const DeflateStream only{{stream, size}, {output, output_size}};
    inflate({&only, 1});
}

// Decompresses an xz stream of at most `most` bytes; returns how many there are.
__attribute__((export_name("decompress_xz"))) size_t decompress_stream(const uint8_t* stream, size_t size,
                                                                       size_t most) {
    decompressed = decompress_xz({stream, size}, most);
    return decompressed.size();
}

// The bytes of the last xz stream.
__attribute__((export_name("decompressed"))) const uint8_t* decompressed_bytes() {
    return decompressed.data();
}

}  // extern "C"

}  // namespace pocketmt::web
