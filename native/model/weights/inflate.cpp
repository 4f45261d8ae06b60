#include "model/weights/inflate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "model/runtime/error.h"

namespace pocketmt {

namespace {

constexpr unsigned longest_code = 15;  // of the code of a symbol
constexpr unsigned direct_bits = 11;   // codes up to this length are found by one look in a table
constexpr size_t literal_symbols = 288;
constexpr size_t distance_symbols = 30;
constexpr unsigned end_of_block = 256;

// RFC 1951, section 3.2.5: the least value of each symbol, and the number of bits that are added to it.
constexpr std::array<uint16_t, 29> length_base{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                               31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<uint8_t, 29> length_extra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                               2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<uint16_t, distance_symbols> distance_base{
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<uint8_t, distance_symbols> distance_extra{0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                               6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
// The order in which the lengths of the codes of code lengths are stored (section 3.2.7).
constexpr std::array<uint8_t, 19> stored_order{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

[[noreturn]] void fail(const char* why) {
    throw ModelError(why);
}

// Bits of a stream, the lowest of each byte first.
class BitReader {
  public:
    explicit BitReader(std::span<const uint8_t> stream) : stream_(stream) {}

    // Whether the next look finds 56 bits or more.
    bool ample() const { return stream_.size() - position_ >= sizeof(uint64_t); }

    // Reads on until there are 56 bits or more; there are fewer at the end.
    [[gnu::always_inline]] void look() {
        if (std::endian::native == std::endian::little && ample()) {
            uint64_t next;
            std::memcpy(&next, stream_.data() + position_, sizeof next);
            bits_ |= next << count_;
            position_ += (63 - count_) / 8;
            count_ |= 56;  // The bits above these are of the next byte, which is read again.
        } else {
            while (count_ <= 55 && position_ < stream_.size()) {
                bits_ |= uint64_t{stream_[position_++]} << count_;
                count_ += 8;
            }
        }
    }

    // The next bits, without taking them. Bits beyond those of the last look may be zeros.
    uint64_t bits() const { return bits_; }

    void take(unsigned count) {
        if (count > count_) fail("it is cut off");
        bits_ >>= count;
        count_ -= count;
    }

    // Takes bits that are known to be there.
    void take_known(unsigned count) {
        bits_ >>= count;
        count_ -= count;
    }

    uint32_t read(unsigned count) {
        look();
        const uint64_t value = bits_ & ((uint64_t{1} << count) - 1);
        take(count);
        return static_cast<uint32_t>(value);
    }

    // Whole bytes, after the rest of the current one.
    std::span<const uint8_t> bytes(size_t size) {
        position_ -= count_ / 8;
        bits_ = count_ = 0;
        if (size > stream_.size() - position_) fail("it is cut off");
        position_ += size;
        return stream_.subspan(position_ - size, size);
    }

    bool at_end() const { return position_ == stream_.size() && count_ < 8; }

  private:
    std::span<const uint8_t> stream_;
    size_t position_ = 0;
    uint64_t bits_ = 0;
    unsigned count_ = 0;
};

// A Huffman code, built from the length of the code of each symbol (section 3.2.2).
class HuffmanCode {
  public:
    HuffmanCode() = default;

    explicit HuffmanCode(std::span<const uint8_t> lengths) {
        for (const uint8_t length : lengths) ++counts_[length];
        counts_[0] = 0;
        std::array<uint16_t, longest_code + 2> first{};  // place of the first symbol of each length
        std::array<uint32_t, longest_code + 2> next{};   // its code
        for (unsigned length = 1; length <= longest_code; ++length) {
            first[length + 1] = first[length] + counts_[length];
            if (next[length] + counts_[length] > uint32_t{1} << length) fail("it has a code that is not one");
            next[length + 1] = (next[length] + counts_[length]) << 1;
        }
        for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
            const unsigned length = lengths[symbol];
            if (length == 0) continue;
            symbols_[first[length]++] = static_cast<uint16_t>(symbol);
            add_direct(next[length]++, length, symbol);
        }
    }

    unsigned read(BitReader& reader) const {
        reader.look();
        return take(reader);
    }

    // Reads a symbol whose code is among the bits of the last look.
    unsigned take(BitReader& reader) const {
        const uint32_t entry = find(reader.bits());
        reader.take(entry & length_mask);
        return entry >> length_bits;
    }

    // As `take`, where all bits of the code are known to be there.
    [[gnu::always_inline]] unsigned take_known(BitReader& reader) const {
        const uint32_t entry = find(reader.bits());
        reader.take_known(entry & length_mask);
        return entry >> length_bits;
    }

  private:
    // The length of a code has as many bits as a shift looks at, so that no instruction needs to mask them.
    static constexpr unsigned length_bits = 6, length_mask = (1u << length_bits) - 1;

    std::array<uint16_t, longest_code + 1> counts_{};  // of symbols by the length of their codes
    std::array<uint16_t, literal_symbols> symbols_{};
    std::array<uint16_t, 1u << direct_bits> direct_{};  // symbol and length; 0: a longer code

    // The symbol of the next code and the length of that.
    uint32_t find(uint64_t bits) const {
        const uint32_t entry = direct_[bits & ((1u << direct_bits) - 1)];
        return entry != 0 ? entry : find_long(bits);
    }

    // Of a code that is longer than `direct_bits`.
    [[gnu::noinline]] uint32_t find_long(uint64_t bits) const {
        uint32_t code = 0, first = 0, place = 0;
        for (unsigned length = 1; length <= longest_code; ++length) {
            code |= (bits >> (length - 1)) & 1;
            if (code - first < counts_[length]) return uint32_t{symbols_[place + code - first]} << length_bits | length;
            place += counts_[length];
            first = (first + counts_[length]) << 1;
            code <<= 1;
        }
        fail("it has a code that is unknown");
    }

    // Codes are stored from their highest bit on.
    void add_direct(uint32_t code, unsigned length, size_t symbol) {
        if (length > direct_bits) return;
        uint32_t reversed = 0;
        for (unsigned bit = 0; bit < length; ++bit) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
        for (uint32_t place = reversed; place < direct_.size(); place += uint32_t{1} << length)
            direct_[place] = static_cast<uint16_t>(symbol << length_bits | length);
    }
};

class Inflater {
  public:
    explicit Inflater(const DeflateStream& stream) : reader_(stream.bytes), output_(stream.output) {}

    // Decompresses streams, two at once.
    static void run(std::span<const DeflateStream> streams) {
        size_t begun = 0;
        std::optional<Inflater> first, second;
        auto begin = [&](std::optional<Inflater>& inflater) {
            while (begun < streams.size()) {
                inflater.emplace(streams[begun++]);
                if (inflater->next_block()) return true;
            }
            return false;
        };
        bool more_first = begin(first), more_second = begin(second);
        while (more_first && more_second) {
            const auto [of_first, of_second] = read_literals(*first, *second);
            if (of_first != literal) more_first = first->handle(of_first) || begin(first);
            if (of_second != literal) more_second = second->handle(of_second) || begin(second);
        }
        while (more_first) more_first = first->handle(first->read_literals());
        while (more_second) more_second = second->handle(second->read_literals());
    }

  private:
    static constexpr unsigned literal = ~0u;  // stands for one that has been written
    static constexpr ptrdiff_t at_once = 3;   // codes of up to 15 bits each from one look
    BitReader reader_;
    std::span<uint8_t> output_;
    size_t size_ = 0;  // of the output so far
    bool last_ = false;
    HuffmanCode literals_, distances_;  // of the current block

    // Reads until a block with codes begins; false if the stream ends before.
    bool next_block() {
        while (!last_) {
            last_ = reader_.read(1) != 0;
            switch (reader_.read(2)) {
                case 0:
                    copy_stored();
                    break;
                case 1:
                    fixed_codes();
                    return true;
                case 2:
                    dynamic_codes();
                    return true;
                default:
                    fail("it has a block of an unknown kind");
            }
        }
        if (!reader_.at_end()) fail("there are bytes after its end");
        if (size_ != output_.size()) fail("it holds fewer bytes than it should");
        return false;
    }

    // Does what a symbol says; false if the stream ends.
    bool handle(unsigned symbol) {
        if (symbol == end_of_block) return next_block();
        if (symbol < end_of_block) {
            reserve(1);
            output_[size_++] = static_cast<uint8_t>(symbol);
        } else {
            copy_match(symbol - end_of_block - 1);
        }
        return true;
    }

    void reserve(size_t count) const {
        if (count > output_.size() - size_) fail("it holds more bytes than it should");
    }

    void copy_stored() {
        const std::span<const uint8_t> head = reader_.bytes(4);
        const unsigned size = head[0] | head[1] << 8;
        if ((size ^ (head[2] | head[3] << 8)) != 0xffff) fail("it has a block of an unknown size");
        reserve(size);
        const std::span<const uint8_t> bytes = reader_.bytes(size);
        if (size > 0) std::memcpy(output_.data() + size_, bytes.data(), size);
        size_ += size;
    }

    void fixed_codes() {
        std::array<uint8_t, literal_symbols> lengths;
        for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
            lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
        std::array<uint8_t, distance_symbols> distances;
        distances.fill(5);
        literals_ = HuffmanCode(lengths);
        distances_ = HuffmanCode(distances);
    }

    void dynamic_codes() {
        const size_t literals = reader_.read(5) + 257;
        const size_t distances = reader_.read(5) + 1;
        const size_t stored = reader_.read(4) + 4;
        if (literals > literal_symbols || distances > distance_symbols) fail("it has too many codes");
        std::array<uint8_t, stored_order.size()> lengths_of_lengths{};
        for (size_t index = 0; index < stored; ++index)
            lengths_of_lengths[stored_order[index]] = static_cast<uint8_t>(reader_.read(3));
        std::array<uint8_t, literal_symbols + distance_symbols> lengths{};
        read_lengths(HuffmanCode(lengths_of_lengths), std::span(lengths).first(literals + distances));
        literals_ = HuffmanCode(std::span(lengths).first(literals));
        distances_ = HuffmanCode(std::span(lengths).subspan(literals, distances));
    }

    void read_lengths(const HuffmanCode& code, std::span<uint8_t> lengths) {
        for (size_t index = 0; index < lengths.size();) {
            const unsigned symbol = code.read(reader_);
            size_t repeats = 1;
            uint8_t value = static_cast<uint8_t>(symbol);
            if (symbol == 16) {
                if (index == 0) fail("it repeats a length that is not there");
                value = lengths[index - 1];
                repeats = 3 + reader_.read(2);
            } else if (symbol > 16) {
                value = 0;
                repeats = symbol == 17 ? 3 + reader_.read(3) : 11 + reader_.read(7);
            }
            if (repeats > lengths.size() - index) fail("it has too many lengths");
            std::memset(lengths.data() + index, value, repeats);
            index += repeats;
        }
    }

    // Where a stream is read and written. A copy stays in registers; bytes that are written could change a member.
    struct Place {
        explicit Place(Inflater& inflater)
            : reader(inflater.reader_),
              to(inflater.output_.data() + inflater.size_),
              end(inflater.output_.data() + inflater.output_.size()) {}

        bool ample() const { return reader.ample() && end - to >= at_once; }
        void write(unsigned symbol) { *to++ = static_cast<uint8_t>(symbol); }

        BitReader reader;
        uint8_t* to;
        const uint8_t* end;
    };

    // Writes literals, and returns the first symbol that is none or for which there may be no room.
    unsigned read_literals() {
        Place place(*this);
        while (place.ample()) {
            place.reader.look();
            for (ptrdiff_t index = 0; index < at_once; ++index) {
                const unsigned symbol = literals_.take_known(place.reader);
                if (symbol >= end_of_block) return keep(place, symbol);
                place.write(symbol);
            }
        }
        return keep(place, literals_.read(place.reader));
    }

    // The same for two streams; `literal` for one of them that can go on.
    static std::pair<unsigned, unsigned> read_literals(Inflater& first, Inflater& second) {
        Place a(first), b(second);
        while (a.ample() && b.ample()) {
            a.reader.look();
            b.reader.look();
            for (ptrdiff_t index = 0; index < at_once; ++index) {
                const unsigned of_a = first.literals_.take_known(a.reader);
                const unsigned of_b = second.literals_.take_known(b.reader);
                if (std::max(of_a, of_b) >= end_of_block)
                    return {first.write_and_keep(a, of_a), second.write_and_keep(b, of_b)};
                a.write(of_a);
                b.write(of_b);
            }
        }
        return {first.keep(a, a.ample() ? literal : first.literals_.read(a.reader)),
                second.keep(b, b.ample() ? literal : second.literals_.read(b.reader))};
    }

    unsigned write_and_keep(Place& place, unsigned symbol) {
        if (symbol >= end_of_block) return keep(place, symbol);
        place.write(symbol);
        return keep(place, literal);
    }

    unsigned keep(const Place& place, unsigned symbol) {
        reader_ = place.reader;
        size_ = static_cast<size_t>(place.to - output_.data());
        return symbol;
    }

    void copy_match(unsigned symbol) {
        if (symbol >= length_base.size()) fail("it has a length that is unknown");
        const size_t length = length_base[symbol] + reader_.read(length_extra[symbol]);
        const unsigned far = distances_.read(reader_);
        const size_t distance = distance_base[far] + reader_.read(distance_extra[far]);
        if (distance > size_) fail("it refers to bytes before its beginning");
        reserve(length);
        // Byte by byte: the match may overlap what it writes.
        uint8_t* to = output_.data() + size_;
        for (size_t index = 0; index < length; ++index) to[index] = to[index - distance];
        size_ += length;
    }
};

}  // namespace

void inflate(std::span<const DeflateStream> streams) {
    Inflater::run(streams);
}

}  // namespace pocketmt
