// A deep LSTM with attention ([L7]): its encoder and decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/decoder.h"
#include "model/encoder.h"

namespace pocketmt {

// Tokens encoded at a time: each step of the recurrence has a row for every sentence among them.
constexpr size_t lstm_group_tokens = 1024;

// Encodes some sentences together (ids without eos) and fills their memories.
void encode_by_lstm(const Network& network, Workspace& workspace, std::span<const std::span<const uint32_t>> sources,
                    std::span<const Memory> memories, Monitor& monitor);

// As decode_step.
const float* decode_step_by_lstm(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows,
                                 size_t position);

}  // namespace pocketmt
