"""Adds ``add``, then doubles the total."""

import operator
from typing import Annotated

from langgraph.graph import START, StateGraph
from pydantic import BaseModel


class State(BaseModel):
    add: float | None = None
    total: Annotated[float, operator.add] = 0
    trail: Annotated[list[str], operator.add] = []


def increment(state: State) -> dict:
    add = number(1 if state.add is None else state.add)
    return {"total": add, "trail": [f"+{add}"]}


def double(state: State) -> dict:
    return {"total": number(state.total), "trail": ["*2"]}


def number(value: float) -> float:
    return int(value) if value == int(value) else value


graph = (
    StateGraph(State)
    .add_node("increment", increment)
    .add_node("double", double)
    .add_edge(START, "increment")
    .add_edge("increment", "double")
    .compile()
)
