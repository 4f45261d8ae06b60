"""Codes of rows and scaled sums are those of PyTorch's functions, bit by bit."""

import pytest
import torch

from pocketmt.quantization.activations.dynamic import quantize_rows
from pocketmt.quantization.integer_products import exact_sums, lookup_table_product


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("columns", [5, 64, 500])
def test_codes_and_products(dtype: torch.dtype, columns: int) -> None:
    from pocketmt.gpu_kernels.quantized_rows import quantized_rows, scaled_sums

    torch.manual_seed(1)
    x = (torch.randn(7, columns) * torch.rand(7, 1) * 9).to(dtype)
    x[2] = 0
    codes, scale = quantized_rows(x)
    expected_codes, expected_scale = quantize_rows(x.float())
    assert torch.equal(codes, expected_codes) and torch.equal(scale, expected_scale)
    levels, level_scale, bias = torch.randint(-127, 128, (1030, columns)), torch.rand(1030), torch.randn(1030)
    sums = exact_sums(codes, levels.float()).to(torch.int32)
    product = lookup_table_product(codes, scale, levels.float(), level_scale)
    assert torch.equal(scaled_sums(sums, scale, level_scale, None, torch.float32), product)
    assert torch.equal(scaled_sums(sums, scale, level_scale, bias, torch.float16), (product + bias).half())
