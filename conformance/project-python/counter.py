import operator
from typing import Annotated

from langgraph.graph import START, StateGraph
from pydantic import BaseModel


class State(BaseModel):
    add: int | None = None
    total: Annotated[int, operator.add] = 0
    trail: Annotated[list[str], operator.add] = []


def increment(state: State):
    add = 1 if state.add is None else state.add
    return {"total": add, "trail": [f"+{add}"]}


def double(state: State):
    return {"total": state.total, "trail": ["*2"]}


# Adds `add`, then doubles the total.
graph = (
    StateGraph(State)
    .add_node("increment", increment)
    .add_node("double", double)
    .add_edge(START, "increment")
    .add_edge("increment", "double")
    .compile()
)
