"""Batches of similar lengths under a token budget."""

import random
from collections.abc import Sequence

from pocketmt.errors import DataError


def make_batches(
    lengths: Sequence[tuple[int, int]], token_budget: int, seed: int, longer_alone: bool = False
) -> list[list[int]]:
    """Group sentence pairs into batches; every pair is in exactly one batch.

    Pairs are sorted by length to reduce padding, with random order of ties, and the batches are then shuffled. A batch
    of n pairs costs n times its longest side in tokens, at most `token_budget`.

    Args:
        lengths: (source tokens, target tokens) of each pair.
        token_budget: largest number of tokens in a batch, padding included.
        seed: of the random order; the same seed gives the same batches.
        longer_alone: whether a pair that is longer than the budget becomes a separate batch, as in validation.

    Returns:
        Lists of indices into `lengths`.

    Raises:
        DataError: a single pair is longer than the budget, and `longer_alone` is false.
    """
    most = max(map(max, lengths), default=0)
    if most > token_budget and not longer_alone:
        # A length is at least 1, and the end of the sentence counts as well.
        shorter = f", or lower maximum_length below {token_budget}" if token_budget > 1 else ""
        raise DataError(
            f"the longest sentence pair has {most} tokens, more than a batch may hold ({token_budget}): raise "
            f"batch_tokens to {most}{shorter}"
        )
    generator = random.Random(seed)
    order = list(range(len(lengths)))
    generator.shuffle(order)
    order.sort(key=lambda index: (lengths[index][1], lengths[index][0]))
    batches: list[list[int]] = []
    current: list[int] = []
    longest = 0
    for index in order:
        length = max(lengths[index])
        if current and max(longest, length) * (len(current) + 1) > token_budget:
            batches.append(current)
            current, longest = [], 0
        current.append(index)
        longest = max(longest, length)
    if current:
        batches.append(current)
    generator.shuffle(batches)
    return batches
