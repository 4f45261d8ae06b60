// Decompression of LZMA2 chunks (Igor Pavlov's LZMA specification).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pocketmt::web {

// Decodes the chunks of one block. Decoded bytes are appended to the output, which is the decoder's window, too.
class Lzma2Decoder {
  public:
    // The output may get at most `most` bytes.
    Lzma2Decoder(std::span<const uint8_t> input, size_t position, std::vector<uint8_t>& output, size_t most);

    // Returns the position after the last chunk. Throws ModelError if a chunk is damaged.
    size_t run();

  private:
    std::span<const uint8_t> input_;
    size_t position_;
    std::vector<uint8_t>& output_;
    size_t most_;
    size_t start_;  // of the window, in the output
    std::vector<uint16_t> probabilities_;
    unsigned literal_context_bits_ = 0;
    size_t literal_position_mask_ = 0;
    size_t position_mask_ = 0;
    unsigned state_ = 0;
    std::array<uint32_t, 4> repeated_{};  // the last distances, less 1
    uint32_t range_ = 0;
    uint32_t code_ = 0;

    uint8_t byte();
    size_t word();
    void copy_chunk();
    void decode_chunk(size_t size, size_t end);
    void set_properties(unsigned properties);
    void reset_state();
    void reserve(size_t count) const;

    void literal();
    size_t match(size_t position_state, size_t last);
    size_t length(size_t base, size_t position_state);
    uint32_t distance(size_t length);
    void copy(size_t length, size_t last);

    uint32_t tree(size_t base, unsigned bits);
    uint32_t reverse_tree(size_t base, unsigned bits);
    uint32_t bit(size_t place);
    void normalize();
};

}  // namespace pocketmt::web
