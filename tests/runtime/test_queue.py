"""The work queue."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_operator.runtime.queue import RESYNC, USER, Priority, WorkQueue
from dynamo_operator.runtime.resource import Key
from tests.support.clock import ManualClock, settle

A1, A2, A3 = (Key("a", f"{n}") for n in "123")
B1 = Key("b", "1")


class Tally:
    def __init__(self) -> None:
        self.seen: list[tuple[str, float]] = []

    def added(self) -> None:
        self.seen.append(("added", 0))

    def started(self, waited: float) -> None:
        self.seen.append(("started", waited))

    def finished(self, worked: float) -> None:
        self.seen.append(("finished", worked))

    def retried(self) -> None:
        self.seen.append(("retried", 0))


async def taken(queue: WorkQueue) -> list[Key]:
    """All keys that wait, in the order in which workers receive them."""
    keys: list[Key] = []
    while len(queue):
        key = await queue.take()
        assert key is not None
        keys.append(key)
    return keys


@pytest.mark.parametrize(
    ("added", "order"),
    [
        pytest.param([A1, A1, A1], [A1], id="a key that waits comes again: it is worked on once"),
        pytest.param([A1, A2, A3, B1], [A1, B1, A2, A3], id="one namespace has many keys: the other is next in turn"),
        pytest.param([(A1, RESYNC), (B1, USER)], [B1, A1], id="a user waits: resyncs wait longer"),
        pytest.param(
            [(A1, RESYNC), (A2, RESYNC), (A2, USER)], [A2, A1], id="a waiting key becomes urgent: it goes first"
        ),
        pytest.param([(A1, USER), (A1, RESYNC)], [A1], id="an urgent key comes again as resync: it stays urgent"),
        pytest.param(
            [(A1, RESYNC), (A1, USER), (A2, RESYNC)], [A1, A2], id="a namespace lost its only key: its place is reused"
        ),
        pytest.param([(A1, RESYNC), (A1, USER)], [A1], id="a namespace lost its only key: its place is dropped"),
    ],
)
async def test_order(added: list, order: list[Key]) -> None:
    queue = WorkQueue(ManualClock())
    for each in added:
        queue.add(*(each if isinstance(each[1], Priority) else (each,)))
    assert await taken(queue) == order


async def test_key_comes_while_it_is_worked_on_runs_once_more_afterwards() -> None:
    queue = WorkQueue(ManualClock())
    queue.add(A1)
    key = await queue.take()
    queue.add(A1, RESYNC)
    queue.add(A1)
    assert (len(queue), list(queue.running)) == (0, [A1])
    queue.done(key)
    assert (queue.depth(USER), queue.depth(RESYNC)) == (1, 0)


async def test_several_delays_for_one_key_the_earliest_counts() -> None:
    clock = ManualClock()
    queue = WorkQueue(clock)
    for seconds in (30, 10, 20):
        queue.add_after(A1, seconds)
    await clock.advance(9.9)
    assert len(queue) == 0
    await clock.advance(0.2)
    assert await taken(queue) == [A1]
    queue.done(A1)
    await clock.advance(60)
    assert len(queue) == 0


async def test_delay_of_nothing_adds_at_once() -> None:
    queue = WorkQueue(ManualClock())
    queue.add_after(A1, 0)
    assert len(queue) == 1


async def test_delays_of_several_keys_each_comes_at_its_time() -> None:
    clock = ManualClock()
    queue = WorkQueue(clock)
    queue.add_after(A1, 5)
    queue.add_after(A2, 7)
    await clock.advance(6)
    assert await taken(queue) == [A1]
    await clock.advance(2)
    assert await taken(queue) == [A2]
    queue.add_after(A3, 1)
    await clock.advance(1)
    assert await taken(queue) == [A3]


async def test_failures_repeat_the_delay_doubles_up_to_the_limit() -> None:
    queue = WorkQueue(ManualClock(), observer=(tally := Tally()))
    delays = [queue.retry(A1) for _ in range(30)]
    assert delays[:3] == [0.005, 0.01, 0.02]
    assert delays[-1] == 1000.0
    assert tally.seen.count(("retried", 0)) == 30
    queue.forget(A1)
    assert queue.retry(A1) == 0.005
    queue.shut_down()


async def test_worker_waits_it_is_woken_by_the_key() -> None:
    queue = WorkQueue(ManualClock())
    worker = asyncio.create_task(queue.take())
    await settle()
    queue.add(A1)
    assert await worker == A1


async def test_chosen_worker_is_cancelled_another_takes_the_key() -> None:
    queue = WorkQueue(ManualClock())
    first, second = (asyncio.create_task(queue.take()) for _ in range(2))
    await settle()
    queue.add(A1)
    first.cancel()
    assert await second == A1


async def test_waiting_worker_is_cancelled_the_next_is_woken() -> None:
    queue = WorkQueue(ManualClock())
    first, second = (asyncio.create_task(queue.take()) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    queue.add(A1)
    assert await second == A1


async def test_shut_down_hands_out_nothing_and_takes_back_what_runs() -> None:
    queue = WorkQueue(ManualClock())
    queue.add(A1)
    queue.add_after(A3, 5)
    await queue.take()
    queue.add(A1)
    idle = asyncio.create_task(queue.take())
    await settle()
    queue.shut_down()
    queue.add(B1)
    queue.add_after(B1, 3)
    assert await queue.take() is None
    assert await idle is None
    queue.done(A1)
    assert len(queue) == 0


async def test_observer_is_told_how_long_keys_wait_and_are_worked_on() -> None:
    clock, tally = ManualClock(), Tally()
    queue = WorkQueue(clock, observer=tally)
    queue.add(A1)
    await clock.advance(2)
    await queue.take()
    await clock.advance(3)
    queue.done(A1)
    assert tally.seen == [("added", 0), ("started", 2.0), ("finished", 3.0)]


KEYS = st.builds(Key, st.sampled_from("abc"), st.sampled_from("123"))


@given(st.lists(st.tuples(st.sampled_from(["add", "resync", "take", "done"]), KEYS), max_size=60))
def test_any_order_of_calls_no_key_is_lost_or_worked_on_twice_at_once(steps: list[tuple[str, Key]]) -> None:
    async def play() -> None:
        queue, owed = WorkQueue(ManualClock()), set()
        running: set[Key] = set()
        for step, key in steps:
            if step in ("add", "resync"):
                queue.add(key, USER if step == "add" else RESYNC)
                owed.add(key)
            elif step == "take" and len(queue):
                took = await queue.take()
                assert took is not None
                assert took not in running
                running.add(took)
                owed.discard(took)
            elif running:
                queue.done(running.pop())
        for key in running:
            queue.done(key)
        assert set(await taken(queue)) == owed

    asyncio.run(play())
