"""The queue: fair between clients, short requests first, bounded, and no answer of another request."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence

import pytest

from pocketmt.serving.errors import RequestError
from pocketmt.serving.metrics import Metrics
from pocketmt.serving.queue.batcher import Batcher
from pocketmt.serving.queue.fair_queue import PATIENCE, FairQueue, Request
from pocketmt.serving.settings import ServerSettings

BOOK = [f"sentence {number} of a long book" for number in range(1000)]
Translate = Callable[[str, list[str], bool], Awaitable[Sequence[str]]]


def taken(queue: FairQueue[str], sentences: int, now: float = 0.0) -> list[str]:
    return [f"{request.client}{index}" for request, index in queue.take(now, 10**9, sentences)]


def test_a_word_comes_before_the_rest_of_a_book() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.add(Request("a", "k", BOOK), 0)
    taken(queue, 10)
    queue.add(Request("b", "k", ["word"]), 0)
    assert "b0" in taken(queue, 2)


def test_clients_have_equal_shares() -> None:
    queue: FairQueue[str] = FairQueue()
    for client, requests in (("a", 1), ("b", 10)):
        for _ in range(requests):
            queue.add(Request(client, "k", ["x" * 30] * 100), 0)
    first = taken(queue, 100)
    assert 49 <= sum(each.startswith("a") for each in first) <= 51


def test_a_client_that_comes_later_has_no_claim_to_what_others_had_before() -> None:
    queue: FairQueue[str] = FairQueue()
    for client in "ab":
        queue.add(Request(client, "k", ["x" * 30] * 200), 0)
        first = taken(queue, 50 if client == "a" else 60)
    assert 29 <= sum(each.startswith("a") for each in first) <= 31


def test_the_cost_of_a_client_is_that_of_what_waits() -> None:
    queue: FairQueue[str] = FairQueue()
    left, kept = Request("a", "k", ["x" * 30] * 4), Request("a", "k", ["y" * 10])
    for request in (left, kept):
        queue.add(request, 0)
    costs = [queue.cost_of_client("a")]
    queue.take(0, 10**9, 2)
    costs.append(queue.cost_of_client("a"))
    queue.remove(left)
    assert [*costs, queue.cost_of_client("a"), queue.cost_of_client("b")] == [230, 150, 0, 0]


def test_the_shortest_request_of_a_client_comes_first_but_none_waits_for_ever() -> None:
    queue: FairQueue[str] = FairQueue()
    long = Request("a", "k", BOOK)
    queue.add(long, 0)
    for round_ in range(20):
        queue.add(Request("a", "k", ["short"]), round_ * PATIENCE / 10)
        taken(queue, 1, round_ * PATIENCE / 10)
    assert long.taken == 1


def test_equal_requests_of_a_client_end_in_the_order_in_which_they_came() -> None:
    """Those that come later, and have fewer sentences left, do not overtake the first."""
    queue: FairQueue[str] = FairQueue()
    last: list[int] = []
    requests = [Request("a", str(number), ["x" * 50] * 30) for number in range(20)]
    for moment, request in enumerate(requests):
        queue.add(request, moment / 10)
        for taken, index in queue.take(moment / 10, 10**9, 10):
            last += [requests.index(taken)] * (index == 29)
    while batch := queue.take(2.0, 10**9, 10):
        last += [requests.index(request) for request, index in batch if index == 29]
    assert last == sorted(last)
    assert len(last) == 20


def test_a_batch_has_one_kind() -> None:
    queue: FairQueue[str] = FairQueue()
    for client in "abcd":
        queue.add(Request(client, "en-de" if client in "ac" else "en-fr", ["x", "y"]), 0)
    batches = [{request.kind for request, _ in queue.take(0, 10**9, 100)} for _ in range(2)]
    assert sorted(map(sorted, batches)) == [["en-de"], ["en-fr"]]
    assert queue.take(0, 10**9, 100) == []
    assert (queue.cost, queue.requests) == (0, 0)


def test_a_batch_is_bounded_but_has_at_least_one_sentence() -> None:
    queue: FairQueue[str] = FairQueue()
    queue.add(Request("a", "k", ["x" * 1000, *["y"] * 10]), 0)
    assert len(queue.take(0, 100, 100)) == 1
    assert len(queue.take(0, 100, 100)) == 4
    assert len(queue.take(0, 10**6, 3)) == 3


def test_a_random_history_gives_each_sentence_once() -> None:
    generator = random.Random(1)
    queue: FairQueue[str] = FairQueue()
    expected = 0
    seen: set[tuple[Request[str], int]] = set()
    alive: list[Request[str]] = []
    for step in range(3000):
        choice = generator.random()
        if choice < 0.3:
            request = Request(generator.choice("abcde"), generator.choice("kl"), ["s"] * generator.randint(1, 9))
            queue.add(request, step)
            alive.append(request)
            expected += len(request.sentences)
        elif choice < 0.4 and alive:
            request = alive.pop(generator.randrange(len(alive)))
            expected -= len(request.sentences) - request.taken
            queue.remove(request)
        else:
            seen |= {(request, index) for request, index in queue.take(step, 100, generator.randint(1, 9))}
    while batch := queue.take(9999, 100, 9):
        seen |= {(request, index) for request, index in batch}
    assert len(seen) == expected
    assert (queue.cost, queue.requests) == (0, 0)


def make_batcher(
    run: Translate, workers: int = 2, most_cost: int = 10**6, most_requests: int = 1000
) -> Batcher[str, str]:
    return Batcher(run, workers=workers, most_cost=most_cost, most_requests=most_requests, observer=Metrics())


async def slow_upper(kind: str, sentences: list[str], alone: bool) -> list[str]:
    await asyncio.sleep(0.001)
    return [f"{kind}:{sentence.upper()}" for sentence in sentences]


def test_answers_are_never_those_of_others() -> None:
    async def work() -> None:
        batcher = make_batcher(slow_upper)
        generator = random.Random(2)

        async def ask(number: int) -> None:
            texts = [f"text {number} {part}" for part in range(generator.randint(1, 20))]
            kind = generator.choice("kl")
            task = asyncio.create_task(batcher.translate(kind, f"client {number % 7}", texts))
            await asyncio.sleep(generator.random() / 50)
            if generator.random() < 0.3 and not task.done():
                task.cancel()
            try:
                assert await task == [f"{kind}:{text.upper()}" for text in texts]
            except asyncio.CancelledError:
                assert task.cancelled()

        await asyncio.gather(*map(ask, range(1000)))
        assert batcher.waiting == (0, 0)

    asyncio.run(work())


def test_sentences_of_several_clients_are_in_one_batch() -> None:
    sizes = []

    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        sizes.append(len(sentences))
        await asyncio.sleep(0.01)
        return sentences

    async def work() -> None:
        batcher = make_batcher(run, workers=1)
        await asyncio.gather(*(batcher.translate("k", f"client {number}", ["word"]) for number in range(30)))

    asyncio.run(work())
    assert sizes == [30]


def test_workers_share_the_queue() -> None:
    """A batch takes a worker's share of what waits, so that the others have work when they are idle."""
    sizes = []

    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        sizes.append(len(sentences))
        await asyncio.sleep(0.01 * len(sentences))
        return sentences

    async def work() -> None:
        batcher = make_batcher(run, workers=2)
        first = []
        for client in "ab":
            first.append(asyncio.create_task(batcher.translate("k", client, ["word"])))
            await asyncio.sleep(0.001)
        await asyncio.gather(*first, *(batcher.translate("k", f"client {number}", ["word"]) for number in range(40)))

    asyncio.run(work())
    assert sizes[:3] == [1, 1, 20]
    assert sum(sizes) == 42


def test_a_batch_knows_whether_it_is_alone() -> None:
    told = []

    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        told.append((kind, alone))
        await asyncio.sleep(0.01)
        return sentences

    async def work() -> None:
        batcher = make_batcher(run, workers=2)
        await batcher.translate("first", "a", ["word"])
        await asyncio.gather(*(batcher.translate(kind, "a", ["word"]) for kind in ("second", "third")))
        await batcher.translate("document", "a", ["x" * 200, "y" * 200])

    asyncio.run(work())
    assert told == [("first", True), ("second", False), ("third", False), ("document", False), ("document", False)]


def test_a_full_queue_refuses_and_says_when_to_come_back() -> None:
    async def work() -> None:
        batcher = make_batcher(slow_upper, workers=1, most_cost=20_000)
        book = asyncio.create_task(batcher.translate("k", "a", ["x" * 30] * 300))
        await asyncio.sleep(0)
        with pytest.raises(RequestError) as refusal:
            await batcher.translate("k", "a", ["x" * 30] * 10)
        assert refusal.value.status == 429
        assert refusal.value.retry_after is not None and refusal.value.retry_after >= 1
        assert await batcher.translate("k", "b", ["word"]) == ["k:WORD"]
        assert len(await book) == 300

    asyncio.run(work())


def test_small_batches_do_not_change_the_expected_speed() -> None:
    """Most of their time is not that of their text."""

    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        await asyncio.sleep(0.005)
        return sentences

    async def expected(sentence: str) -> int:
        batcher = make_batcher(run, workers=1)
        for _ in range(20):
            await batcher.translate("k", "a", [sentence])
        book = asyncio.create_task(batcher.translate("k", "a", ["x" * 980] * 200))
        await asyncio.sleep(0)
        seconds = batcher.retry_after()
        book.cancel()
        await asyncio.wait([book])
        return seconds

    # Of 200,000 characters; before the speed is known, a server is expected to translate 26,667 a second.
    assert asyncio.run(expected("word")) == 8
    assert asyncio.run(expected("x" * 980)) != 8


def test_what_never_fits_is_refused_for_good() -> None:
    async def work() -> None:
        batcher = make_batcher(slow_upper, workers=1, most_cost=1000)
        with pytest.raises(RequestError, match="send less at once") as refusal:
            await batcher.translate("k", "a", ["x" * 30] * 21)
        assert (refusal.value.status, refusal.value.retry_after) == (400, None)
        assert len(await batcher.translate("k", "a", ["x" * 30] * 20)) == 20

    asyncio.run(work())


@pytest.mark.parametrize("characters", [1, 100_000, 3_000_000])
@pytest.mark.parametrize("sentence", ["A ", "\u5b57\u3002", "A dog. "])
def test_the_largest_request_fits_in_the_queue(characters: int, sentence: str) -> None:
    settings = ServerSettings(characters=characters)
    text = (sentence * characters)[:characters]
    request = Request("a", "k", [text[start : start + len(sentence)] for start in range(0, characters, len(sentence))])
    assert request.remaining <= settings.queued_characters
    assert ServerSettings().queued_characters == 2_000_000


def test_a_client_that_leaves_stops_its_batch() -> None:
    stopped = asyncio.Event()

    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.set()
            raise
        return sentences

    async def work() -> None:
        batcher = make_batcher(run, workers=1)
        first = asyncio.create_task(batcher.translate("k", "a", ["one", "two"]))
        await asyncio.sleep(0)
        second = asyncio.create_task(batcher.translate("k", "b", ["three"]))
        await asyncio.sleep(0.01)
        first.cancel()
        await asyncio.wait_for(stopped.wait(), 5)
        second.cancel()
        await asyncio.wait([first, second])
        assert batcher.waiting == (0, 0)

    asyncio.run(work())


@pytest.mark.parametrize("steps", range(5))
def test_clients_that_leave_at_once_take_no_worker_away(steps: int) -> None:
    """A batch may be cancelled before its first step, too."""

    async def work() -> None:
        batcher = make_batcher(slow_upper, workers=1)
        for _ in range(3):
            task = asyncio.create_task(batcher.translate("k", "a", ["word"]))
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
        assert await asyncio.wait_for(batcher.translate("k", "b", ["word"]), 5) == ["k:WORD"]

    asyncio.run(work())


def test_requests_of_a_batch_that_the_engine_ends_are_told() -> None:
    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        raise asyncio.CancelledError

    async def work() -> None:
        with pytest.raises(RequestError, match="interrupted"):
            await make_batcher(run).translate("k", "a", ["one", "two"])

    asyncio.run(work())


def test_a_failed_batch_fails_its_requests_alone() -> None:
    async def run(kind: str, sentences: list[str], alone: bool) -> list[str]:
        await asyncio.sleep(0)
        if kind == "bad":
            raise ValueError("no such kind")
        return sentences

    async def work() -> None:
        batcher = make_batcher(run)
        results = await asyncio.gather(
            batcher.translate("bad", "a", ["x"] * 500), batcher.translate("good", "a", ["y"]), return_exceptions=True
        )
        assert isinstance(results[0], ValueError)
        assert results[1] == ["y"]
        assert batcher.waiting == (0, 0)

    asyncio.run(work())
