import asyncio
import operator
from typing import Annotated

import streams
from langgraph.graph import END, START, StateGraph
from langgraph.types import StreamWriter
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    steps: int
    ms: float
    label: str
    tick: Annotated[int, lambda left, right: right]
    log: Annotated[list[str], operator.add]


def begin(state: State):
    return {"tick": 0, "log": [f"{state.get('label')}:begin"]}


async def wait(state: State, writer: StreamWriter):
    ms = state.get("ms")
    await asyncio.sleep((50 if ms is None else ms) / 1000)
    tick = state["tick"] + 1
    writer({"label": state.get("label"), "tick": tick})
    return {"tick": tick, "log": [f"{state.get('label')}:{tick}"]}


def after_wait(state: State) -> str:
    steps = state.get("steps")
    return "wait" if state["tick"] < (3 if steps is None else steps) else END


# `steps` supersteps of `ms` milliseconds each; each leaves `<label>:<n>` in the log.
graph = (
    StateGraph(State)
    .add_node("begin", begin)
    .add_node("wait", wait)
    .add_edge(START, "begin")
    .add_edge("begin", "wait")
    .add_conditional_edges("wait", after_wait, ["wait", END])
    .compile(**streams.custom)
)
