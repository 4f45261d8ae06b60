"""Slicing of tensors."""

import torch

from pocketmt.pruning.slicing import Cut, at_least_one, elements_of


def test_heads_are_removed_from_queries_keys_and_values() -> None:
    kept = torch.tensor([True, False, True])
    assert elements_of(kept, 2).tolist() == [0, 1, 4, 5]
    assert elements_of(kept, 2, parts=3).tolist() == [0, 1, 4, 5, 6, 7, 10, 11, 12, 13, 16, 17]


def test_rows_columns_and_elements() -> None:
    matrix = torch.arange(6).view(2, 3)
    index = torch.tensor([1])
    assert Cut(0, index).of(matrix).tolist() == [[3, 4, 5]]
    assert Cut(1, index).of(matrix).tolist() == [[1], [4]]
    assert Cut(0, index).of(matrix[0]).tolist() == [1]


def test_at_least_one_unit_is_kept() -> None:
    importance = torch.tensor([1.0, 3.0, 2.0])
    none = torch.zeros(3, dtype=torch.bool)
    assert at_least_one(none, importance).tolist() == [False, True, False]
    some = torch.tensor([True, False, False])
    assert at_least_one(some, importance) is some
