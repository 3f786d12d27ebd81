import operator
from typing import Annotated, TypedDict

from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


# not compiled in advance: the server has to compile it
graph = (
    StateGraph(State)
    .add_node("one", lambda state: {"log": ["one"]})
    .add_node("two", lambda state: {"log": ["two"]})
    .add_node("three", lambda state: {"log": ["three"]})
    .add_edge(START, "one")
    .add_edge("one", "two")
    .add_edge("two", "three")
)
