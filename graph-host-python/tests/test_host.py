"""The host as a separate process, with runs that behave badly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from .host_process import HostProcess, Runs

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def host(checkpoint_socket: str) -> AsyncIterator[HostProcess]:
    started = await HostProcess.start(checkpoint_socket)
    await started.wait_for_type("ready")
    yield started
    await started.end()


@pytest.fixture
def runs() -> Runs:
    return Runs()


class Gate:
    """Nodes wait at it, so that a test decides what happens before their end, at any speed of the machine."""

    def __init__(self, directory: Path) -> None:
        self.path = str(directory / "gate")
        self._directory = directory

    async def wait_for_arrivals(self, count: int = 1, kind: str = "gate.") -> None:
        for _ in range(600):
            if len(list(self._directory.glob(f"{kind}*"))) >= count:
                return
            await asyncio.sleep(0.05)
        raise TimeoutError(f"{count} nodes did not arrive within half a minute")

    def open(self) -> None:
        Path(self.path).touch()


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


async def test_a_run_ends_with_its_status_written(host: HostProcess, runs: Runs) -> None:
    frame, body = await runs.create(do="print")
    host.send(frame, body)
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    assert (end["outcome"], end["attempt"], end["finished"]["outcome"]) == ("success", 1, "success")
    assert end["body"]["values"] == {"do": "print", "done": "print"}
    assert await runs.status(frame["run_id"]) == "success"
    events = [f["body"] for f in host.frames if f["t"] == "event" and f["run_id"] == frame["run_id"]]
    assert events == [{"first": {"done": "first"}}, {"act": {"done": "print"}}]
    assert f"[run {frame['run_id']}] printed by the node\n" in host.output


async def test_pong_reports_resident_memory(host: HostProcess) -> None:
    host.send({"t": "ping", "n": 1})
    pong = await host.wait_for_type("pong", n=1)
    assert 20e6 < pong["rss"] < 400e6


async def test_an_attempt_that_is_replaced_ends_without_a_frame(host: HostProcess, runs: Runs, gate: Gate) -> None:
    frame, body = await runs.create(do="ignore cancel", gate=gate.path)
    host.send(frame, body)
    await host.wait_for_type("event", run_id=frame["run_id"])
    await runs.take_over(frame["run_id"])
    replaced_at = len(host.frames)
    host.send({**frame, "attempt": 2, "fresh_thread": False}, body)
    # the second attempt continues at the same node
    await gate.wait_for_arrivals(2)
    gate.open()
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    assert (end["attempt"], end["outcome"]) == (2, "success")
    # the abandoned code of the first attempt has ended by then
    await gate.wait_for_arrivals(2, "gate.end.")
    await asyncio.sleep(0.5)
    later = [f for f in host.frames[replaced_at:] if f.get("run_id") == frame["run_id"]]
    assert [f["t"] for f in later if f["t"] != "mark"] == ["run.resumed", "event", "run.end"]


async def test_an_attempt_that_lost_its_run_is_fenced(host: HostProcess, runs: Runs, gate: Gate) -> None:
    frame, body = await runs.create(do="ignore cancel", gate=gate.path)
    host.send(frame, body)
    await host.wait_for_type("event", run_id=frame["run_id"])
    await runs.take_over(frame["run_id"])
    gate.open()
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    assert (end["attempt"], end["outcome"], end["body"]) == (1, "fenced", {})
    assert await runs.status(frame["run_id"]) == "running"


async def test_a_cancelled_run_ends_although_its_code_ignores_it(host: HostProcess, runs: Runs, gate: Gate) -> None:
    frame, body = await runs.create(do="ignore cancel", gate=gate.path)
    host.send(frame, body)
    await host.wait_for_type("event", run_id=frame["run_id"])
    started = time.monotonic()
    host.send({"t": "run.cancel", "run_id": frame["run_id"], "reason": "cancelled"})
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    assert end["outcome"] == "cancelled"
    assert time.monotonic() - started > 0.9
    assert end["body"]["values"]["done"] == "first"
    gate.open()


async def test_a_blocked_event_loop_does_not_answer(host: HostProcess, runs: Runs, gate: Gate) -> None:
    frame, body = await runs.create(do="block", gate=gate.path)
    host.send(frame, body)
    await gate.wait_for_arrivals()
    host.send({"t": "ping", "n": 2})
    await asyncio.sleep(0.5)
    assert not [f for f in host.frames if f["t"] == "pong" and f["n"] == 2]
    gate.open()
    await host.wait_for_type("pong", n=2)
    await host.wait_for_type("run.end", run_id=frame["run_id"], outcome="success")


async def test_synchronous_nodes_block_neither_the_loop_nor_each_other(
    host: HostProcess, runs: Runs, gate: Gate
) -> None:
    frames = [await runs.create("threaded", gate=gate.path) for _ in range(3)]
    for frame, body in frames:
        host.send(frame, body)
    await gate.wait_for_arrivals(3)
    host.send({"t": "ping", "n": 3})
    await host.wait_for_type("pong", n=3)
    gate.open()
    for frame, _ in frames:
        await host.wait_for_type("run.end", run_id=frame["run_id"], outcome="success")


async def test_sys_exit_in_a_node_fails_its_run_only(host: HostProcess, runs: Runs) -> None:
    other, other_body = await runs.create(do="sleep", seconds=0.3)
    frame, body = await runs.create(do="sys.exit")
    host.send(other, other_body)
    host.send(frame, body)
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    assert (end["outcome"], end["error"]["error"]) == ("error", "SystemExit")
    await host.wait_for_type("run.end", run_id=other["run_id"], outcome="success")


async def test_stray_errors_are_printed_with_their_run(host: HostProcess, runs: Runs) -> None:
    frame, body = await runs.create(do="stray")
    host.send(frame, body)
    await host.wait_for_type("run.end", run_id=frame["run_id"], outcome="success")
    lines = [line for line in host.output.splitlines() if "ValueError: left behind" in line]
    # new threads have no context
    assert sorted(lines) == ["ValueError: left behind", f"[run {frame['run_id']}] ValueError: left behind"]


async def test_errors_of_tasks_left_behind_are_printed_with_their_run(host: HostProcess, runs: Runs) -> None:
    frame, body = await runs.create(do="stray task")
    host.send(frame, body)
    await host.wait_for_type("run.end", run_id=frame["run_id"], outcome="success")
    expected = f"[run {frame['run_id']}] ValueError: left behind"
    for _ in range(200):
        if expected in host.output.splitlines():
            break
        await asyncio.sleep(0.05)
    assert expected in host.output.splitlines(), host.output


async def test_a_process_that_exits_ends_its_stream_although_its_children_live(
    checkpoint_socket: str, runs: Runs, gate: Gate
) -> None:
    host = await HostProcess.start(checkpoint_socket)
    try:
        frame, body = await runs.create(do="exit", gate=gate.path)
        host.send(frame, body)
        await host.wait_for_type("event", run_id=frame["run_id"])
        await asyncio.wait_for(host.ended.wait(), 30)
        gate.open()
        assert await host.process.wait() == 7
    finally:
        gate.open()
        await host.end()


async def test_an_error_of_the_host_itself_is_a_fault(checkpoint_socket: str, runs: Runs) -> None:
    host = await HostProcess.start(checkpoint_socket)
    try:
        await host.wait_for_type("ready")
        host.send({"t": "run.start", "run_id": 7}, {})
        fault = await host.wait_for_type("fault")
        assert "KeyError: 'thread_id'" in fault["message"]
        assert await asyncio.wait_for(host.process.wait(), 30) == 70
    finally:
        await host.end()


async def test_a_run_that_cannot_begin_ends_with_the_error(host: HostProcess, runs: Runs) -> None:
    frame, body = await runs.create(do="sleep")
    host.send(frame, {**body, "config": {"metadata": 5}})
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    assert (end["outcome"], end["error"]["error"]) == ("error", "TypeError")


async def test_a_draining_host_finishes_its_runs_and_exits(checkpoint_socket: str, runs: Runs) -> None:
    host = await HostProcess.start(checkpoint_socket)
    try:
        frame, body = await runs.create(do="sleep", seconds=0.5)
        host.send(frame, body)
        await host.wait_for_type("event", run_id=frame["run_id"])
        host.send({"t": "drain"})
        await host.wait_for_type("run.end", run_id=frame["run_id"], outcome="success")
        assert await asyncio.wait_for(host.process.wait(), 30) == 0
    finally:
        await host.end()


async def test_the_warm_up_leaves_no_trace(checkpoint_socket: str, runs: Runs) -> None:
    host = await HostProcess.start(checkpoint_socket)
    try:
        await host.wait_for_type("ready")
        frame, body = await runs.create(do="sleep")
        host.send(frame, body)
        await host.wait_for_type("run.end", run_id=frame["run_id"], outcome="success")
        assert {f["run_id"] for f in host.frames if "run_id" in f} == {frame["run_id"]}
        assert "warm-up" not in host.output
        rehearsed = "select count(*)::int from checkpoints where thread_id like '00000000-%'"
        assert await runs.value(rehearsed) == 0
    finally:
        await host.end()


async def test_an_unknown_frame_is_a_fault(checkpoint_socket: str) -> None:
    host = await HostProcess.start(checkpoint_socket)
    try:
        await host.wait_for_type("ready")
        host.send({"t": "run.pause", "run_id": "1"})
        fault = await host.wait_for_type("fault")
        assert 'Unknown frame "run.pause"' in fault["message"]
        assert await asyncio.wait_for(host.process.wait(), 30) == 70
    finally:
        await host.end()
