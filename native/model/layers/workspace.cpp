#include "model/layers/workspace.h"

#include <algorithm>

namespace pocketmt {

namespace {

constexpr size_t kept_selections = 4;

}  // namespace

void Workspace::reset() {
    for (Buffer<float>* buffer :
         {&x, &normed, &projected, &attended, &update, &inner, &keys, &scores, &recurrent, &hidden, &cells, &logits})
        buffer->trim(kept_bytes);
    cross_attention_caches.trim(kept_bytes);
    selected.resize(std::min(selected.size(), kept_selections));
    for (Buffer<std::byte>& rows : selected) rows.trim(kept_bytes / kept_selections);
    for (Buffer<const float*>* buffer : {&key_rows, &value_rows}) buffer->trim(kept_bytes);
    for (Buffer<const int8_t*>* buffer : {&key_codes, &value_codes}) buffer->trim(kept_bytes);
    for (Buffer<int8_t>* buffer : {&codes, &weight_codes}) buffer->trim(kept_bytes);
    column_sums.trim(kept_bytes);
    product.trim(kept_bytes);
    if (positions.capacity() * sizeof(float) > kept_bytes) positions = std::vector<float>();
}

}  // namespace pocketmt
