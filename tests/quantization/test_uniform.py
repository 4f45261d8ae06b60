import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pocketmt.quantization import Scheme, Uniform, fake_quantize
from pocketmt.quantization.uniform import Uniform7


def weights(magnitude: float = 10.0) -> st.SearchStrategy[Tensor]:
    """Float32 [rows, columns], small enough for an exhaustive search."""
    values = st.floats(-magnitude, magnitude, width=32)
    row = st.lists(values, min_size=5, max_size=5)
    return st.lists(row, min_size=1, max_size=4).map(lambda rows: torch.tensor(rows, dtype=torch.float32))


def test_it_is_a_scheme() -> None:
    scheme: Scheme = Uniform()
    assert scheme.stored_form() == {"name": "uniform", "bits": 8, "granularity": "row"}


def test_a_worked_example() -> None:
    # The first row's scale is 1.27 / 127 = 0.01 rounded up to bfloat16, 0.010009765625: 0.5 is 49.95 of it.
    weight = torch.tensor([[1.27, -0.5, 0.0], [254.0, 3.0, -1.0]])
    scheme = Uniform()
    parameters = scheme.fit(weight)
    assert parameters["scale"].tolist() == [0.010009765625, 2.0]
    codes = scheme.assign(weight, parameters)
    assert codes.dtype == torch.int8
    assert codes.tolist() == [[127, -50, 0], [127, 2, 0]]  # 1.5 and -0.5 go to the even neighbour
    assert scheme.decode(codes, parameters)[1].tolist() == [254.0, 4.0, 0.0]


@given(weight=weights())
def test_codes_are_the_nearest_of_all_255(weight: Tensor) -> None:
    scheme = Uniform()
    parameters = scheme.fit(weight)
    decoded = scheme.decode(scheme.assign(weight, parameters), parameters)
    every = torch.arange(-127, 128).double()[:, None, None] * parameters["scale"].double()[:, None]
    least = (every - weight.double()).abs().amin(dim=0)
    error = (decoded.double() - weight.double()).abs()
    assert bool((error <= least + 1e-6 * weight.abs().double()).all())  # a tie within float32 may go either way


@given(weight=weights(2.0**127))
def test_nothing_clips_and_the_largest_gets_the_largest_code(weight: Tensor) -> None:
    scheme = Uniform()
    parameters = scheme.fit(weight)
    largest = weight.abs().amax(dim=1)
    assert bool((127 * parameters["scale"].double() >= largest.double() * (1 - 2**-50)).all())
    codes = scheme.assign(weight, parameters).abs().amax(dim=1)
    assert bool(((codes >= 126) | (largest < 1e-30)).all())  # rounding up to 8 bits costs less than one code in 127


@given(weight=weights(), seed=st.integers(0, 10))
def test_a_row_does_not_depend_on_the_others(weight: Tensor, seed: int) -> None:
    order = torch.randperm(len(weight), generator=torch.Generator().manual_seed(seed))
    assert torch.equal(fake_quantize(Uniform(), weight)[order], fake_quantize(Uniform(), weight[order]))


def test_rows_of_zeros_stay_zeros() -> None:
    weight = torch.tensor([[0.0, -0.0], [1.0, 0.0]])
    assert fake_quantize(Uniform(), weight)[0].tolist() == [0.0, 0.0]


def test_values_out_of_range_saturate() -> None:
    codes = Uniform().assign(torch.tensor([[5.0, -5.0]]), {"scale": torch.tensor([0.01])})
    assert codes.tolist() == [[127, -127]]


def test_decoding_passes_gradients_to_the_scale() -> None:
    scale = torch.tensor([0.5, 2.0], requires_grad=True)
    Uniform().decode(torch.tensor([[1, 2], [-3, 4]], dtype=torch.int8), {"scale": scale}).sum().backward()  # type: ignore[no-untyped-call]
    assert scale.grad is not None
    assert scale.grad.tolist() == [3.0, 1.0]


def test_straight_through_training_works_with_fit_assign_and_decode() -> None:
    weight = torch.randn(3, 4, requires_grad=True)
    (weight + (fake_quantize(Uniform(), weight) - weight).detach()).sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    assert torch.equal(weight.grad, torch.ones(3, 4))


def test_codes_of_7_bits() -> None:
    scheme = Uniform7()
    assert scheme.stored_form() == Uniform().stored_form()
    weight = torch.tensor([[126.0, -126.0, 3.0, 0.0]])
    parameters = scheme.fit(weight)
    assert parameters["scale"].tolist() == [2.0]
    assert scheme.assign(weight, parameters).tolist() == [[63, -63, 2, 0]]  # 1.5 goes to the even neighbour
    assert not scheme.clamped(weight, parameters).any()
    assert scheme.clamped(2 * weight, parameters).tolist() == [[True, True, False, False]]
