"""Steps of a run whose host is killed: each is done once, or again with the same key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .host_process import HostProcess, Runs

pytestmark = pytest.mark.asyncio


async def killed(
    socket: str, file: Path, graph_id: str, die_at: str, **values: Any
) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the ledger and the final log."""
    values = values or {"file": str(file), "die_at": die_at, "log": []}
    frame, body = await Runs().create(graph_id, **values)
    body["config"]["configurable"]["file"] = str(file)
    body["durability"] = "sync"
    first = await HostProcess.start(socket)
    await first.wait_for_type("ready")
    first.send(frame, body)
    await first.process.wait()
    await first.end()
    await Runs().take_over(frame["run_id"])
    host = await HostProcess.start(socket)
    await host.wait_for_type("ready")
    host.send({**frame, "attempt": 2, "fresh_thread": False}, body)
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    await host.end()
    assert end["outcome"] == "success", end
    return [json.loads(line) for line in file.read_text().splitlines()], end["body"]["values"].get("log")


@pytest.mark.parametrize("graph_id", ["steps", "sync_steps", "nested"])
async def test_a_completed_step_is_not_repeated(checkpoint_socket: str, tmp_path: Path, graph_id: str) -> None:
    ledger, log = await killed(checkpoint_socket, tmp_path / "ledger", graph_id, "after first")
    assert sorted(entry["answer"] for entry in ledger) == sorted(log)
    assert len({entry["key"] for entry in ledger}) == 3


@pytest.mark.parametrize("graph_id", ["steps", "sync_steps"])
async def test_a_repeated_step_has_the_same_key(checkpoint_socket: str, tmp_path: Path, graph_id: str) -> None:
    ledger, log = await killed(checkpoint_socket, tmp_path / "ledger", graph_id, "in first")
    assert [entry["name"] for entry in ledger[:2]] == ["first", "first"]
    assert len(ledger) == 4
    assert len({entry["key"] for entry in ledger}) == 3
    assert log[0] == ledger[1]["answer"]


async def test_all_steps_of_a_node_are_kept(checkpoint_socket: str, tmp_path: Path) -> None:
    ledger, log = await killed(checkpoint_socket, tmp_path / "ledger", "steps", "after third")
    assert sorted(entry["answer"] for entry in ledger) == sorted(log)


async def test_tools_are_steps_by_a_middleware(checkpoint_socket: str, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "What is the weather in Berlin and Paris?"}]
    ledger, _ = await killed(checkpoint_socket, tmp_path / "ledger", "weather_agent", "", messages=messages)
    assert sorted(entry["name"] for entry in ledger) == ["Berlin", "Paris", "Paris"]
    assert len({entry["key"] for entry in ledger}) == 2


@pytest.mark.parametrize("graph_id", ["steps", "sync_steps", "nested"])
async def test_a_step_has_its_key_with_durability_exit(checkpoint_socket: str, tmp_path: Path, graph_id: str) -> None:
    file = tmp_path / "ledger"
    frame, body = await Runs().create(graph_id, file=str(file), die_at="", log=[])
    host = await HostProcess.start(checkpoint_socket)
    await host.wait_for_type("ready")
    host.send(frame, {**body, "durability": "exit"})
    end = await host.wait_for_type("run.end", run_id=frame["run_id"])
    await host.end()
    assert end["outcome"] == "success", end
    assert len({json.loads(line)["key"] for line in file.read_text().splitlines()}) == 3
