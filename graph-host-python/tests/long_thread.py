"""For tests of the server: writes a long conversation with Heddle's saver, or reads one with LangGraph's.

Arguments: the database, `write` or `official`, and the thread. Prints the ids of each state's messages.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import START, MessagesState, StateGraph

from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.checkpoints.saver import HeddleSaver

from .checkpoint_server import connect, serve_checkpoints


def answer(state: MessagesState) -> dict[str, Any]:
    return {"messages": [HumanMessage("a" * 300, id=f"a{len(state['messages'])}")]}


async def converse(checkpoints: RemoteCheckpoints, config: Any) -> None:
    for turn in range(20):
        saver = HeddleSaver(checkpoints)
        graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile(saver)
        await graph.ainvoke({"messages": [HumanMessage("q" * 300, id=f"q{turn}")]}, config)
        await saver.flush()


async def show(saver: Any, config: Any) -> None:
    states = [found.checkpoint["channel_values"].get("messages", []) async for found in saver.alist(config)]
    print(json.dumps([[message.id for message in state] for state in states]))


async def main(uri: str, what: str, thread_id: str) -> None:
    config = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    if what == "official":
        async with AsyncPostgresSaver.from_conn_string(uri) as official:
            await show(official, config)
        return
    with serve_checkpoints(uri) as path:
        checkpoints, close = await connect(path)
        await converse(checkpoints, config)
        await show(HeddleSaver(checkpoints), config)
        close()


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3]))
