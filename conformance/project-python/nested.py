import operator
from typing import Annotated

import streams
from langgraph.graph import START, StateGraph
from langgraph.types import StreamWriter, interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    ask: bool
    log: Annotated[list[str], operator.add]


def deep(state: State, writer: StreamWriter):
    writer({"from": "deep"})
    answer = interrupt("deep question") if state.get("ask") else "nothing asked"
    return {"log": [f"deep:{answer}"]}


def before(state: State, writer: StreamWriter):
    writer({"from": "before"})
    return {"log": ["before"]}


def enter(state: State, writer: StreamWriter):
    writer({"from": "enter"})
    return {"log": ["enter"]}


grandchild = StateGraph(State).add_node("deep", deep).add_edge(START, "deep").compile()

child = (
    StateGraph(State)
    .add_node("before", before)
    .add_node("grandchild", grandchild)
    .add_edge(START, "before")
    .add_edge("before", "grandchild")
    .compile()
)

graph = (
    StateGraph(State)
    .add_node("enter", enter)
    .add_node("child", child)
    .add_edge(START, "enter")
    .add_edge("enter", "child")
    .compile(**streams.custom)
)
