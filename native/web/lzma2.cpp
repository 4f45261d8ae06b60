#include "web/lzma2.h"

#include <algorithm>

#include "model/runtime/error.h"

namespace pocketmt::web {

namespace {

constexpr uint16_t half = 1024;  // a probability of 1/2, in 11 bits
constexpr size_t states = 12;

// Probabilities of a length: choices, then 16 low and middle trees of 8, then a high tree of 256.
constexpr size_t length_low = 2;
constexpr size_t length_middle = length_low + 16 * 8;
constexpr size_t length_high = length_middle + 16 * 8;
constexpr size_t length_size = length_high + 256;

// Places in the array of all probabilities.
constexpr size_t is_match = 0;
constexpr size_t is_repeated = is_match + states * 16;
constexpr size_t is_repeated_0 = is_repeated + states;
constexpr size_t is_repeated_1 = is_repeated_0 + states;
constexpr size_t is_repeated_2 = is_repeated_1 + states;
constexpr size_t is_long_repeated_0 = is_repeated_2 + states;
constexpr size_t distance_slot = is_long_repeated_0 + states * 16;
constexpr size_t distance_special = distance_slot + 4 * 64;
constexpr size_t distance_align = distance_special + 128;
constexpr size_t match_length = distance_align + 16;
constexpr size_t repeated_length = match_length + length_size;
constexpr size_t literals = repeated_length + length_size;
constexpr size_t literal_size = 0x300;

[[noreturn]] void fail(const char* why) {
    throw ModelError(why);
}

}  // namespace

Lzma2Decoder::Lzma2Decoder(std::span<const uint8_t> input, size_t position, std::vector<uint8_t>& output, size_t most)
    : input_(input), position_(position), output_(output), most_(most), start_(output.size()) {}

size_t Lzma2Decoder::run() {
    bool has_properties = false;
    for (;;) {
        const unsigned control = byte();
        if (control == 0) return position_;
        if (control == 1 || control >= 0xe0) start_ = output_.size();
        if (control < 3) {
            copy_chunk();
            continue;
        }
        if (control < 0x80) fail("a chunk has an unknown kind");
        const size_t size = ((control & 31) << 16) + word() + 1;
        const size_t compressed = word() + 1;
        if (control >= 0xc0) {
            set_properties(byte());
            has_properties = true;
        } else if (control >= 0xa0) {
            reset_state();
        }
        if (!has_properties) fail("a chunk has no properties");
        decode_chunk(size, position_ + compressed);
    }
}

uint8_t Lzma2Decoder::byte() {
    if (position_ >= input_.size()) fail("it is cut off");
    return input_[position_++];
}

size_t Lzma2Decoder::word() {
    const size_t high = byte();
    return high << 8 | byte();
}

void Lzma2Decoder::reserve(size_t count) const {
    if (count > most_ - output_.size()) fail("it holds more bytes than it should");
}

void Lzma2Decoder::copy_chunk() {
    const size_t size = word() + 1;
    if (size > input_.size() - position_) fail("it is cut off");
    reserve(size);
    const std::span<const uint8_t> bytes = input_.subspan(position_, size);
    output_.insert(output_.end(), bytes.begin(), bytes.end());
    position_ += size;
}

void Lzma2Decoder::set_properties(unsigned properties) {
    const unsigned context_bits = properties % 9, position_bits = properties / 9 % 5;
    if (properties >= 225 || context_bits + position_bits > 4) fail("its properties are invalid");
    literal_context_bits_ = context_bits;
    literal_position_mask_ = (size_t{1} << position_bits) - 1;
    position_mask_ = (size_t{1} << properties / 45) - 1;
    probabilities_.resize(literals + (literal_size << (context_bits + position_bits)));
    reset_state();
}

void Lzma2Decoder::reset_state() {
    std::fill(probabilities_.begin(), probabilities_.end(), half);
    state_ = 0;
    repeated_.fill(0);
}

void Lzma2Decoder::decode_chunk(size_t size, size_t end) {
    if (end > input_.size()) fail("it is cut off");
    reserve(size);
    ++position_;
    code_ = 0;
    for (int count = 0; count < 4; ++count) code_ = code_ << 8 | byte();
    range_ = 0xffffffff;
    const size_t last = output_.size() + size;
    output_.reserve(last);
    while (output_.size() < last) {
        const size_t position_state = (output_.size() - start_) & position_mask_;
        if (bit(is_match + state_ * 16 + position_state) == 0) {
            literal();
        } else if (const size_t found = match(position_state, last)) {
            copy(found, last);
        }
    }
    if (position_ != end) fail("a chunk has another size than it states");
}

void Lzma2Decoder::literal() {
    const size_t size = output_.size(), place = size - start_;
    const unsigned previous = place > 0 ? output_[size - 1] : 0;
    const size_t context =
        ((place & literal_position_mask_) << literal_context_bits_) + (previous >> (8 - literal_context_bits_));
    const size_t base = literals + context * literal_size;
    unsigned symbol = 1;
    if (state_ >= 7) {
        if (repeated_[0] >= place) fail("a match is out of range");
        unsigned matched = output_[size - repeated_[0] - 1];
        while (symbol < 256) {
            const unsigned expected = matched >> 7 & 1;
            matched <<= 1;
            const unsigned found = bit(base + ((1 + expected) << 8) + symbol);
            symbol = symbol << 1 | found;
            if (found != expected) break;
        }
    }
    while (symbol < 256) symbol = symbol << 1 | bit(base + symbol);
    output_.push_back(static_cast<uint8_t>(symbol));
    state_ = state_ < 4 ? 0 : state_ < 10 ? state_ - 3 : state_ - 6;
}

// Reads a match; returns its length, or 0 if it was one byte, which is then written.
size_t Lzma2Decoder::match(size_t position_state, size_t last) {
    const unsigned state = state_;
    if (bit(is_repeated + state) == 0) {
        std::copy_backward(repeated_.begin(), repeated_.end() - 1, repeated_.end());
        const size_t found = length(match_length, position_state);
        state_ = state < 7 ? 7 : 10;
        repeated_[0] = distance(found);
        return found;
    }
    if (bit(is_repeated_0 + state) == 0) {
        if (bit(is_long_repeated_0 + state * 16 + position_state) == 0) {
            state_ = state < 7 ? 9 : 11;
            copy(1, last);
            return 0;
        }
    } else {
        const size_t which = bit(is_repeated_1 + state) == 0 ? 1 : 2 + bit(is_repeated_2 + state);
        std::rotate(repeated_.begin(), repeated_.begin() + which, repeated_.begin() + which + 1);
    }
    state_ = state < 7 ? 8 : 11;
    return length(repeated_length, position_state);
}

size_t Lzma2Decoder::length(size_t base, size_t position_state) {
    if (bit(base) == 0) return 2 + tree(base + length_low + position_state * 8, 3);
    if (bit(base + 1) == 0) return 10 + tree(base + length_middle + position_state * 8, 3);
    return 18 + tree(base + length_high, 8);
}

uint32_t Lzma2Decoder::distance(size_t length) {
    const uint32_t slot = tree(distance_slot + std::min<size_t>(length - 2, 3) * 64, 6);
    if (slot < 4) return slot;
    const unsigned bits = (slot >> 1) - 1;
    const uint32_t high = (2 | (slot & 1)) << bits;
    if (slot < 14) return high + reverse_tree(distance_special + high - slot, bits);
    uint32_t middle = 0;
    for (unsigned left = bits - 4; left > 0; --left) {
        range_ >>= 1;
        const uint32_t one = code_ >= range_;
        if (one) code_ -= range_;
        middle = middle << 1 | one;
        normalize();
    }
    return high + (middle << 4) + reverse_tree(distance_align, 4);
}

void Lzma2Decoder::copy(size_t length, size_t last) {
    const size_t size = output_.size(), back = repeated_[0];
    if (back >= size - start_ || length > last - size) fail("a match is out of range");
    // Byte by byte: the match may overlap what it writes.
    for (size_t from = size - back - 1, end = from + length; from < end; ++from) output_.push_back(output_[from]);
}

uint32_t Lzma2Decoder::tree(size_t base, unsigned bits) {
    uint32_t symbol = 1;
    for (unsigned left = bits; left > 0; --left) symbol = symbol << 1 | bit(base + symbol);
    return symbol - (uint32_t{1} << bits);
}

uint32_t Lzma2Decoder::reverse_tree(size_t base, unsigned bits) {
    uint32_t node = 1, symbol = 0;
    for (unsigned place = 0; place < bits; ++place) {
        const uint32_t found = bit(base + node);
        node = node << 1 | found;
        symbol |= found << place;
    }
    return symbol;
}

uint32_t Lzma2Decoder::bit(size_t place) {
    uint16_t& probability = probabilities_[place];
    const uint32_t bound = (range_ >> 11) * probability;
    const bool one = code_ >= bound;
    if (one) {
        range_ -= bound;
        code_ -= bound;
        probability = static_cast<uint16_t>(probability - (probability >> 5));
    } else {
        range_ = bound;
        probability = static_cast<uint16_t>(probability + ((2048 - probability) >> 5));
    }
    normalize();
    return one;
}

void Lzma2Decoder::normalize() {
    if (range_ >= 0x1000000) return;
    range_ <<= 8;
    code_ = code_ << 8 | byte();
}

}  // namespace pocketmt::web
