"""fp32 matrices with many zeros on their way into a model file: which weights are kept, and these alone."""

from torch import Tensor

from pocketmt.model_file.bit_packing import pack_codes
from pocketmt.model_file.sparse import kept_name, weights_name
from pocketmt.model_file.writer import StoredTensor
from pocketmt.recipes.packing.encoding import stored_tensor


def encode_sparse(name: str, weight: Tensor) -> dict[str, StoredTensor]:
    """Return the two tensors of a matrix [rows, columns], float32 on the CPU, by their names."""
    kept = weight != 0
    bits = pack_codes(kept.byte().numpy(), 1)
    return {
        kept_name(name): StoredTensor("U8", bits.shape, bits.tobytes()),
        weights_name(name): stored_tensor(weight[kept], "F32"),
    }


def is_smaller(weight: Tensor) -> bool:
    """Whether a parameter is a matrix that takes fewer bytes so: a bit a weight must be worth it, and one be kept."""
    zeros = int((weight == 0).sum())
    return weight.dim() == 2 and 32 * zeros > weight.numel() > zeros
