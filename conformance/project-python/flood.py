import asyncio

from langgraph.graph import START, StateGraph
from langgraph.types import StreamWriter
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    frames: int
    bytes: int
    done: bool


async def pour(state: State, writer: StreamWriter):
    """Writes `frames` custom frames of `bytes` characters each, as fast as it can."""
    padding = "x" * state["bytes"]
    for n in range(state["frames"]):
        writer({"n": n, "padding": padding})
        if n % 50 == 0:
            await asyncio.sleep(0)
    return {"done": True}


graph = StateGraph(State).add_node("pour", pour).add_edge(START, "pour").compile()
