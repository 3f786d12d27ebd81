import asyncio
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.types import StreamWriter


class State(TypedDict, total=False):
    frames: int
    bytes: int
    done: bool


async def pour(state: State, writer: StreamWriter) -> dict:
    padding = "x" * state["bytes"]
    for n in range(state["frames"]):
        writer({"n": n, "padding": padding})
        if n % 50 == 0:
            await asyncio.sleep(0)
    return {"done": True}


#: Writes ``frames`` custom frames of ``bytes`` characters each, as fast as it can.
graph = StateGraph(State).add_node("pour", pour).add_edge(START, "pour").compile()
