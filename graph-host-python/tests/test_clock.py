"""Ids of checkpoints."""

from __future__ import annotations

from heddle_host.checkpoints.clock import CheckpointClock


def test_ids_increase_while_the_wall_clock_stands_or_steps_back() -> None:
    times = iter([5_000_000_000, 5_000_000_000, 1_000_000_000])
    clock = CheckpointClock(now=lambda: next(times))
    ids = [str(clock.next_id(step)) for step in range(3)]
    assert ids == sorted(set(ids))


def test_ids_exceed_those_observed_from_a_clock_that_is_ahead() -> None:
    ahead = str(CheckpointClock(now=lambda: 9_000_000_000_000_000_000).next_id(-1))
    clock = CheckpointClock()
    clock.observe(ahead)
    assert str(clock.next_id(-2)) > ahead


def test_an_id_observed_in_one_run_does_not_move_the_clock_of_another() -> None:
    process = CheckpointClock()
    ahead = str(CheckpointClock(now=lambda: 9_000_000_000_000_000_000).next_id(0))
    CheckpointClock(process).observe(ahead)
    assert str(CheckpointClock(process).next_id(0)) < ahead
    assert str(process.next_id(0)) > ahead


def test_ids_are_uuids_of_version_6_and_ignore_other_ids() -> None:
    clock = CheckpointClock()
    clock.observe("not a uuid")
    assert clock.next_id(3).version == 6
