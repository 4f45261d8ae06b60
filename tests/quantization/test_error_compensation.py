import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import Affine
from pocketmt.quantization.error_compensation import compensated_codes, output_error
from tests.quantization.every_scheme import SCHEMES, random_weight

ALL = pytest.mark.parametrize("name", SCHEMES)


def correlated_inputs(seed: int, columns: int, count: int = 400) -> Tensor:
    """Inputs [count, columns] that lie near a space of few dimensions, as those of a trained layer do."""
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(columns, columns, generator=generator) * torch.logspace(0, -2, columns)[:, None]
    return torch.randn(count, columns, generator=generator) @ mixing


@ALL
@given(seed=st.integers(0, 10**6))
@settings(max_examples=3, deadline=None)
def test_outputs_are_never_worse_than_by_plain_assignment(name: str, seed: int) -> None:
    scheme, weight, inputs = SCHEMES[name], random_weight(seed, 5, 12), correlated_inputs(seed, 12, 30)
    parameters = scheme.fit(weight)
    codes = compensated_codes(scheme, weight, inputs.T @ inputs, parameters)
    plain = scheme.assign(weight, parameters)
    assert (codes.shape, codes.dtype) == (plain.shape, plain.dtype)

    def error(codes: Tensor) -> Tensor:
        difference = (scheme.decode(codes, parameters) - weight).double()
        return (difference @ inputs.double().T).square().sum(dim=1)

    assert bool((error(codes) <= error(plain) * (1 + 1e-4) + 1e-9).all())  # X^T X is in float32


@ALL
def test_outputs_are_much_better_for_correlated_inputs(name: str) -> None:
    scheme, weight, inputs = SCHEMES[name], random_weight(3, 20, 48), correlated_inputs(3, 48)
    parameters = scheme.fit(weight)
    hessian = inputs.T @ inputs
    compensated = scheme.decode(compensated_codes(scheme, weight, hessian, parameters), parameters)
    plain = scheme.decode(scheme.assign(weight, parameters), parameters)
    given = name in ("logarithmic 2 none", "logarithmic 4 none", "binarization_fixed (0.1, -0.2)")  # far too small
    bound = 1 if given else {1: 0.85, 2: 0.7}.get(scheme.bits, 0.5)
    assert output_error(weight, compensated, hessian).sum() <= bound * output_error(weight, plain, hessian).sum()


@ALL
@given(seed=st.integers(0, 10**6))
@settings(max_examples=3, deadline=None)
def test_without_correlation_codes_equal_plain_assignment(name: str, seed: int) -> None:
    scheme, weight = SCHEMES[name], random_weight(seed, 4, 9)
    parameters = scheme.fit(weight)
    hessian = torch.diag(torch.rand(9, generator=torch.Generator().manual_seed(seed)) * 100)
    assert torch.equal(compensated_codes(scheme, weight, hessian, parameters), scheme.assign(weight, parameters))


def test_two_columns_by_hand() -> None:
    # Codes 0 .. 15. With equal inputs only the sum of the weights matters, 0.8. The first is rounded to 0; its error
    # (nearly undamped) is added to the second, 0.8, which is rounded to 1. Plain rounding gives 0 and 0.
    scheme = Affine(4, "matrix")
    parameters = {"scale": torch.tensor([1.0]), "minimum": torch.tensor([0.0])}
    weight, hessian = torch.tensor([[0.4, 0.4]]), torch.ones(2, 2)
    assert compensated_codes(scheme, weight, hessian, parameters, dampings=[1e-6]).tolist() == [[0, 1]]
    assert scheme.assign(weight, parameters).tolist() == [[0, 0]]
    # Damping of the whole diagonal leaves 0.6 = 0.4 + 0.4 / 2: (H + I)^-1 = [[2, -1], [-1, 2]] / 3.
    weight = torch.tensor([[0.4, 0.29], [0.4, 0.31]])
    assert compensated_codes(scheme, weight, hessian, parameters, dampings=[1.0]).tolist() == [[0, 0], [0, 1]]


@pytest.mark.parametrize("dead", [[0], [2, 5], list(range(6))])
def test_inputs_that_are_always_zero_do_no_harm(dead: list[int]) -> None:
    inputs = correlated_inputs(1, 6)
    inputs[:, dead] = 0
    scheme, weight = SCHEMES["binary 2 alternating"], random_weight(1, 3, 6)
    parameters = scheme.fit(weight)
    codes = compensated_codes(scheme, weight, inputs.T @ inputs, parameters)
    plain = scheme.assign(weight, parameters)
    assert torch.equal(codes[..., dead], plain[..., dead])


def test_the_output_error_is_that_of_the_outputs() -> None:
    inputs, weight = correlated_inputs(2, 8), random_weight(2, 3, 8)
    quantized = weight.round()
    expected = ((weight - quantized).double() @ inputs.double().T).square().sum(dim=1)
    assert torch.allclose(output_error(weight, quantized, inputs.double().T @ inputs.double()), expected)
