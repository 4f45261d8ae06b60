// The output projection: logits of rows of the decoder's output.
#pragma once

#include "model/weights/matrix.h"

namespace pocketmt {

struct OutputLayer {
    const Matrix& matrix;  // a row for each piece
    const float* bias;     // null: none
};

}  // namespace pocketmt
