import os
import subprocess
import sys

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization.activations.dynamic import quantize_rows
from pocketmt.quantization.integer_products import affine_product, binary_code_product, lookup_table_product

COLUMNS = st.sampled_from([1, 7, 64, 1024, 1025, 3000])


def activations(seed: int, columns: int) -> tuple[Tensor, Tensor]:
    """Codes mostly of the largest magnitude: float32 could not add 3000 of their products exactly."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, columns, generator=generator).clamp(-5, 5)
    x[torch.rand(2, columns, generator=generator) < 0.9] = 5.0
    return quantize_rows(x)


@given(seed=st.integers(0, 10**6), columns=COLUMNS)
@settings(max_examples=30, deadline=None)
def test_products_with_levels_are_exact(seed: int, columns: int) -> None:
    codes, activation_scale = activations(seed, columns)
    generator = torch.Generator().manual_seed(seed)
    levels = torch.randint(120, 128, (5, columns), generator=generator)
    scale = torch.rand(5, generator=generator)
    expected = (codes.long() @ levels.T).float() * (activation_scale[:, None] * scale)
    assert torch.equal(lookup_table_product(codes, activation_scale, levels.float(), scale), expected)


@given(seed=st.integers(0, 10**6), columns=COLUMNS)
@settings(max_examples=30, deadline=None)
def test_affine_products_are_two_exact_sums(seed: int, columns: int) -> None:
    codes, activation_scale = activations(seed, columns)
    generator = torch.Generator().manual_seed(seed)
    levels = torch.randint(-128, -120, (5, columns), generator=generator)
    scale, offset = torch.rand(5, generator=generator), torch.randn(5, generator=generator)
    expected = (codes.long() @ levels.T).float() * (activation_scale[:, None] * scale)
    expected = expected + codes.long().sum(dim=1, keepdim=True).float() * (activation_scale[:, None] * offset)
    assert torch.equal(affine_product(codes, activation_scale, levels.float(), scale, offset), expected)


@given(seed=st.integers(0, 10**6), columns=COLUMNS, bits=st.integers(1, 2))
@settings(max_examples=30, deadline=None)
def test_binary_code_products_add_exact_terms_in_order(seed: int, columns: int, bits: int) -> None:
    codes, activation_scale = activations(seed, columns)
    generator = torch.Generator().manual_seed(seed)
    planes = torch.randint(0, 2, (5, bits, columns), generator=generator)
    alphas = torch.randn(5, bits, generator=generator)
    expected = torch.zeros(2, 5)
    for bit in range(bits):
        sums = codes.long() @ (2 * planes[:, bit] - 1).T
        term = sums.float() * (activation_scale[:, None] * alphas[:, bit])
        expected = term if bit == 0 else expected + term
    assert torch.equal(binary_code_product(codes, activation_scale, planes.float().unbind(1), alphas), expected)


def test_they_are_products_with_the_decoded_weights() -> None:
    x = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    codes, activation_scale = quantize_rows(x)
    rounded = (codes * activation_scale[:, None]).double()
    levels, scale, offset = torch.randint(-128, 128, (4, 50)).float(), torch.rand(4), torch.randn(4)
    decoded = (offset[:, None] + levels * scale[:, None]).double()
    product = affine_product(codes, activation_scale, levels, scale, offset)
    assert torch.allclose(product.double(), rounded @ decoded.T, rtol=1e-5, atol=1e-3)
    planes, alphas = torch.randint(0, 2, (4, 2, 50)).float(), torch.randn(4, 2)
    signed = ((2 * planes - 1) * alphas[..., None]).sum(dim=1).double()
    assert torch.allclose(
        binary_code_product(codes, activation_scale, planes.unbind(1), alphas).double(), rounded @ signed.T, atol=1e-4
    )


def test_a_row_does_not_depend_on_the_others() -> None:
    x = torch.randn(8, 100)
    levels, scale = torch.randint(-127, 128, (30, 100)).float(), torch.rand(30)
    codes, activation_scale = quantize_rows(x)
    together = lookup_table_product(codes, activation_scale, levels, scale)
    for row in range(8):
        assert torch.equal(together[row], lookup_table_product(codes[row], activation_scale[row], levels, scale))


def test_sums_of_bytes_are_exact_on_a_processor_without_vnni() -> None:
    program = """
import torch
from pocketmt.quantization.integer_products import exact_sums
torch.manual_seed(1)
codes = torch.randint(-127, 128, (17, 600), dtype=torch.int8)
weights = torch.randint(-128, 128, (33, 600), dtype=torch.int8)
expected = codes.long() @ weights.long().t()
assert torch.equal(exact_sums(codes, weights).long(), expected)
"""
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
