"""``steps`` supersteps of ``ms`` milliseconds each; each leaves ``<label>:<n>`` in the log."""

import asyncio
import operator
from typing import Annotated, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import StreamWriter


class State(TypedDict, total=False):
    steps: int
    ms: int
    label: str
    tick: int
    log: Annotated[list[str], operator.add]


def begin(state: State) -> State:
    return {"tick": 0, "log": [f"{state.get('label')}:begin"]}


async def wait(state: State, writer: StreamWriter) -> State:
    await asyncio.sleep(state.get("ms", 50) / 1000)
    tick = state["tick"] + 1
    writer({"label": state.get("label"), "tick": tick})
    return {"tick": tick, "log": [f"{state.get('label')}:{tick}"]}


graph = (
    StateGraph(State)
    .add_node("begin", begin)
    .add_node("wait", wait)
    .add_edge(START, "begin")
    .add_edge("begin", "wait")
    .add_conditional_edges("wait", lambda state: "wait" if state["tick"] < state.get("steps", 3) else END, ["wait", END])
    .compile()
)
