"""Group lasso: the penalty, its gradient, and the dead groups."""

import math

import pytest
import torch

from pocketmt.pruning.group_lasso import Connections, living_units


def test_the_penalty_of_a_worked_example() -> None:
    # Two rows of four weights, norms 5 and 13 (with a bias): sqrt(4) * (5 + 13).
    weights = torch.tensor([[[3.0, 4.0, 0.0, 0.0]], [[3.0, 0.0, 4.0, 0.0]]])
    biases = torch.tensor([[[0.0]], [[12.0]]])
    assert Connections(weights, biases).penalty().item() == pytest.approx(36)
    assert Connections(weights).penalty().item() == pytest.approx(20)


def test_the_gradient_is_each_weights_share_of_its_groups_norm() -> None:
    torch.manual_seed(1)
    weights = torch.randn(3, 2, 5, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(Connections(weights).penalty(), weights)
    expected = math.sqrt(5) * weights.detach() / weights.detach().norm(dim=-1, keepdim=True)
    torch.testing.assert_close(gradient, expected)
    biases = torch.randn(3, 2, 1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *both: Connections(*both).penalty(), (weights, biases))


def test_the_gradient_of_a_group_of_zeros_is_zero() -> None:
    weights = torch.zeros(1, 2, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(Connections(weights).penalty(), weights)
    assert not gradient.any()


def test_a_group_is_dead_by_the_root_mean_square_of_its_weights() -> None:
    groups = torch.tensor([[[0.01, 0.01, 0.01, 0.01], [0.0, 0.0, 0.0, 0.021]]])  # 0.01 and 0.0105
    assert Connections(groups).dead(0.0101).tolist() == [[True, False]]
    assert Connections(groups).dead(0.0106).tolist() == [[True, True]]
    assert Connections(groups, torch.tensor([[[0.1], [0.0]]])).dead(0.0106).tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("rows", "columns", "lives"),
    [
        ([1.0, 1.0], [1.0, 1.0], True),
        ([0.0, 1.0], [1.0, 1.0], True),
        ([0.0, 1.0], [0.0, 1.0], False),
        ([0.0, 0.0], [1.0, 1.0], False),
        ([1.0, 0.0], [0.0, 0.0], False),
    ],
)
def test_a_unit_dies_with_half_of_its_connections(rows: list[float], columns: list[float], lives: bool) -> None:
    connections = [Connections(torch.tensor(side)[None, :, None].expand(1, 2, 3)) for side in (rows, columns)]
    assert living_units(connections, 0.1).tolist() == [lives]


def test_a_node_without_its_row_or_column_is_removed() -> None:
    row = Connections(torch.tensor([1.0, 0.0, 1.0, 0.0])[:, None, None])
    column = Connections(torch.tensor([1.0, 1.0, 0.0, 0.0])[:, None, None])
    assert living_units([row, column], 0.1).tolist() == [True, False, False, False]
