"""The way of checkpoints to the server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langgraph.graph import START, StateGraph

from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.checkpoints.rows import WriteItem, WriteRow
from heddle_host.checkpoints.saver import HeddleSaver
from heddle_host.protocol import Header

from .checkpoint_server import connect
from .conftest import fetch

MIB = 1024 * 1024


class State(TypedDict):
    data: bytes
    text: str


async def test_large_values_and_bytes_read_back_as_they_were_put(checkpoints: RemoteCheckpoints) -> None:
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    data, text = bytes(range(256)) * (20 * MIB // 256), "\u00e4\U0001f600" * MIB
    builder = StateGraph(State).add_node("n", lambda _: {"data": data, "text": text}).add_edge(START, "n")
    saver = HeddleSaver(checkpoints)
    await builder.compile(saver).ainvoke({"data": b"", "text": ""}, config)
    await saver.flush()
    state = await builder.compile(HeddleSaver(checkpoints)).aget_state(config)
    assert state.values == {"data": data, "text": text}


async def test_a_history_receives_each_shared_value_once(checkpoints: RemoteCheckpoints) -> None:
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    builder = StateGraph(State).add_node("n", lambda _: {"text": "next"}).add_edge(START, "n")
    saver = HeddleSaver(checkpoints)
    await builder.compile(saver).ainvoke({"data": b"d" * 100_000, "text": ""}, config)
    for _ in range(5):
        await builder.compile(saver).ainvoke({"text": ""}, config)
    await saver.flush()
    states = [state async for state in builder.compile(HeddleSaver(checkpoints)).aget_state_history(config)]
    assert len(states) == 18
    values = [state.values["data"] for state in states if "data" in state.values]
    assert set(values) == {b"d" * 100_000} and len(values) == 17


@pytest.mark.parametrize("limit", [None, 0, 5, 20, 21, 40, 47, 60])
async def test_a_history_is_read_in_pages(checkpoints: RemoteCheckpoints, limit: int | None) -> None:
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    builder = StateGraph(State).add_node("n", lambda state: {"text": state["text"] + "n"}).add_edge(START, "n")
    saver = HeddleSaver(checkpoints)
    for turn in range(15):
        await builder.compile(saver).ainvoke({"data": b"", "text": str(turn)}, config)
    await saver.flush()
    listed = {"configurable": {**config["configurable"], "checkpoint_ns": ""}}
    all_steps = [found.metadata["step"] async for found in HeddleSaver(checkpoints).alist(listed, filter={})]
    assert all_steps == list(range(43, -2, -1))
    steps = [found.metadata["step"] async for found in HeddleSaver(checkpoints).alist(listed, limit=limit)]
    assert steps == all_steps[:limit]


def item(size: int) -> WriteItem:
    return WriteItem(writes=[WriteRow("t", "", "1", "task", 0, "text", "bytes", bytes(size), False)])


async def test_writes_beyond_the_window_wait_in_the_host() -> None:
    sent: list[Header] = []

    def send(header: Header, body: Sequence[bytes]) -> None:
        sent.append(header)

    checkpoints = RemoteCheckpoints(send)
    written = [checkpoints.write(item(30 * MIB), True), checkpoints.write(item(30 * MIB), False)]
    written.append(checkpoints.write(item(1), True))
    assert [header["t"] for header in sent] == ["checkpoint.write", "checkpoint.hurry", "checkpoint.hurry"]
    checkpoints.answered({"id": sent[0]["id"]}, b"")
    await written[0]
    writes = [header for header in sent if header["t"] == "checkpoint.write"]
    # in order, and the small one fits beside the large one
    assert [(write["lazy"], write["item"]["writes"][0]["bytes"]) for write in writes] == [
        (True, 30 * MIB),
        (False, 30 * MIB),
        (True, 1),
    ]
    for write in writes[1:]:
        checkpoints.answered({"id": write["id"]}, b"")
    assert await asyncio.gather(*written) == [None, None, None]
    # one that is larger than the window passes alone
    checkpoints.write(item(50 * MIB), False)
    assert sent[-1]["t"] == "checkpoint.write"


async def test_a_flush_hurries_what_waits_in_the_host() -> None:
    sent: list[Header] = []
    checkpoints = RemoteCheckpoints(lambda header, body: sent.append(header))
    checkpoints.write(item(50 * MIB), True)
    checkpoints.write(item(1), True)
    checkpoints.hurry()
    checkpoints.answered({"id": sent[0]["id"]}, b"")
    assert (sent[-1]["t"], sent[-1]["lazy"]) == ("checkpoint.write", False)


async def test_an_answer_that_nobody_awaits_any_more_is_dropped(checkpoints: RemoteCheckpoints) -> None:
    reading = asyncio.ensure_future(HeddleSaver(checkpoints).aget_tuple({"configurable": {"thread_id": "none"}}))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await HeddleSaver(checkpoints).aget_tuple({"configurable": {"thread_id": "none"}}) is None


async def test_lists_are_stored_whole_while_an_older_server_reads_them(checkpoint_socket: str) -> None:
    checkpoints, close = await connect(checkpoint_socket)
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    builder = StateGraph(dict).add_node("n", lambda state: {"notes": [*state["notes"], "new"]}).add_edge(START, "n")
    kinds = "select distinct type from checkpoint_blobs where thread_id = $1 and type like 'msgpack%'"
    graph = builder.compile(HeddleSaver(checkpoints))
    checkpoints.stores_lists_whole = True
    await graph.ainvoke({"notes": ["note " * 10] * 200}, config, durability="sync")
    assert await fetch(kinds, [config["configurable"]["thread_id"]]) == [("msgpack",)]
    close()
