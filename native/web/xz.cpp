#include "web/xz.h"

#include <algorithm>
#include <array>

#include "model/runtime/error.h"
#include "web/lzma2.h"

namespace pocketmt::web {

namespace {

constexpr std::array<uint8_t, 6> magic{0xfd, '7', 'z', 'X', 'Z', 0};
constexpr size_t head_size = 12, footer_size = 12;
constexpr uint64_t lzma2 = 0x21;
constexpr std::array<uint8_t, 16> check_sizes{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64};

[[noreturn]] void fail(const char* why) {
    throw ModelError(why);
}

size_t round_up(size_t value) {
    return (value + 3) / 4 * 4;
}

class Stream {
  public:
    Stream(std::span<const uint8_t> bytes, size_t most) : bytes_(bytes), most_(most) {}

    std::vector<uint8_t> read() {
        if (bytes_.size() < head_size || !std::equal(magic.begin(), magic.end(), bytes_.begin()))
            fail("it has another beginning");
        const size_t check = check_sizes[bytes_[7] & 15];
        position_ = head_size;
        while (peek() != 0) read_block(check);
        skip_index();
        if (bytes_.size() < footer_size || position_ > bytes_.size() - footer_size) fail("it is cut off");
        position_ += footer_size;
        if (bytes_[position_ - 2] != 'Y' || bytes_[position_ - 1] != 'Z') fail("its end is missing");
        if (position_ != bytes_.size()) fail("there are bytes after its end");
        return std::move(output_);
    }

  private:
    std::span<const uint8_t> bytes_;
    size_t most_;
    size_t position_ = 0;
    std::vector<uint8_t> output_;

    uint8_t peek() const {
        if (position_ >= bytes_.size()) fail("it is cut off");
        return bytes_[position_];
    }

    void read_block(size_t check) {
        const size_t start = position_;
        const size_t head_end = start + (peek() + size_t{1}) * 4;
        ++position_;
        const unsigned flags = peek();
        ++position_;
        if ((flags & 0x3f) != 0) fail("it has filters other than LZMA2");
        if (flags & 0x40) number();
        if (flags & 0x80) number();
        if (number() != lzma2) fail("it has a filter other than LZMA2");
        Lzma2Decoder decoder(bytes_, head_end, output_, most_);
        position_ = start + round_up(decoder.run() - start) + check;
    }

    void skip_index() {
        const size_t start = position_++;
        for (uint64_t records = number(); records > 0; --records) {
            number();
            number();
        }
        position_ = start + round_up(position_ - start) + 4;
    }

    uint64_t number() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 63; shift += 7) {
            const uint64_t byte = peek();
            ++position_;
            value |= (byte & 127) << shift;
            if (byte < 128) return value;
        }
        fail("a number in it is too large");
    }
};

}  // namespace

std::vector<uint8_t> decompress_xz(std::span<const uint8_t> stream, size_t most) {
    return Stream(stream, most).read();
}

}  // namespace pocketmt::web
