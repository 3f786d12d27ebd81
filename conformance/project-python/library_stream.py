"""Streams a graph with LangGraph itself, without a server, and prints the chunks, each [namespace, mode, payload].

python library_stream.py crew '{"messages": []}' '["values", "messages"]'
"""

import asyncio
import importlib
import json
import sys
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

sys.path.insert(0, ".")
if sys.version_info < (3, 11):
    # LangGraph itself gives asynchronous nodes no context there; the graph host does
    sys.path.insert(0, "../../graph-host-python")
    importlib.import_module("heddle_host.task_contexts").install_task_contexts()


def plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump()
    return vars(value) if hasattr(value, "__dict__") else {name: getattr(value, name) for name in value.__slots__}


async def main() -> None:
    name, given, modes = sys.argv[1:]
    graph: Any = importlib.import_module(name).graph
    graph.checkpointer = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "1"}}
    stream = graph.astream(json.loads(given), config, stream_mode=json.loads(modes), subgraphs=True)
    print(json.dumps([chunk async for chunk in stream], default=plain))


asyncio.run(main())
