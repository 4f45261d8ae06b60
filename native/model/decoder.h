// The decoder, one step of all live hypotheses at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/encoder.h"
#include "model/network.h"
#include "model/workspace.h"

namespace pocketmt {

// One hypothesis in a step.
struct DecoderRow {
    uint32_t token;             // the one before the one to be chosen
    const Memory* memory;       // rows of one sentence are neighbours
    std::byte* const* history;  // its cache rows of positions 0 to `position`; the last one is filled by the step
};

// Runs the decoder for `rows` at `position`; returns its output [rows, d], valid until the workspace is used again.
const float* decode_step(const Network& network, Workspace& workspace, std::span<const DecoderRow> rows,
                         size_t position);

}  // namespace pocketmt
