"""The official conformance tests for savers, and the official saver's view of the same rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timezone
from typing import Annotated, Any, TypedDict
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import ProgressCallbacks
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.checkpoints.saver import HeddleSaver

from .checkpoint_server import connect
from .conftest import database_uri


async def test_saver_passes_the_official_conformance_tests(checkpoint_socket: str) -> None:
    @checkpointer_test(name="HeddleSaver")
    async def heddle_saver() -> AsyncIterator[HeddleSaver]:
        checkpoints, close = await connect(checkpoint_socket)
        yield HeddleSaver(checkpoints)
        close()

    report = await validate(heddle_saver, progress=ProgressCallbacks.verbose())
    report.print_report()
    assert report.passed_all()
    assert all(result.detected for result in report.results.values())


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    made: datetime
    answer: str


def approval_graph(saver: BaseCheckpointSaver) -> CompiledStateGraph:
    async def note(state: State) -> State:
        return {"messages": [AIMessage("noted", id="a")], "made": datetime(2026, 1, 2, tzinfo=timezone.utc)}

    async def ask(state: State) -> State:
        return {"answer": interrupt({"question": "Send?"})}

    builder = StateGraph(State).add_node(note).add_node(ask)
    builder.add_edge(START, "note").add_edge("note", "ask").add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def comparable(found: CheckpointTuple) -> dict[str, Any]:
    return {**found._asdict(), "pending_writes": sorted(found.pending_writes or [], key=lambda write: write[:2])}


async def test_the_official_saver_reads_the_rows(checkpoints: RemoteCheckpoints) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": str(uuid4()), "checkpoint_ns": ""}}
    saver = HeddleSaver(checkpoints)
    graph = approval_graph(saver)
    await graph.ainvoke({"messages": [HumanMessage("hello", id="h")]}, config, durability="sync")
    await saver.flush()
    own = [comparable(found) async for found in saver.alist(config)]
    async with AsyncPostgresSaver.from_conn_string(database_uri()) as official:
        assert [comparable(found) async for found in official.alist(config)] == own
        head = await official.aget_tuple(config)
        assert head and comparable(head) == own[0]
        state = await approval_graph(official).aget_state(config)
        assert state.next == ("ask",)
        assert state.values["made"] == datetime(2026, 1, 2, tzinfo=timezone.utc)
        assert [message.content for message in state.values["messages"]] == ["hello", "noted"]


_IMPORT = """
with b as (insert into public.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
           select thread_id, checkpoint_ns, channel, version, type, blob from checkpoint_blobs),
     w as (insert into public.checkpoint_writes
             (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
           select thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob from checkpoint_writes)
insert into public.checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
select thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata from checkpoints"""


async def test_rows_of_the_official_saver_are_continued(checkpoints: RemoteCheckpoints) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": str(uuid4())}}
    async with AsyncPostgresSaver.from_conn_string(database_uri()) as official:
        # its own tables have a column more
        await official.conn.execute("drop schema if exists official cascade")
        await official.conn.execute("create schema official")
        await official.conn.execute("set search_path = official")
        await official.setup()
        await approval_graph(official).ainvoke({"messages": [HumanMessage("hello", id="h")]}, config)
        await official.conn.execute(_IMPORT)
        await official.conn.execute("drop schema official cascade")
    result = await approval_graph(HeddleSaver(checkpoints)).ainvoke(Command(resume="yes"), config)
    assert result["answer"] == "yes"
    assert [message.content for message in result["messages"]] == ["hello", "noted"]
