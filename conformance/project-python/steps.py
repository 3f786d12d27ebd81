import operator
from typing import Annotated

from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    log: Annotated[list, operator.add]


# A builder that is not compiled: the server has to compile it.
graph = (
    StateGraph(State)
    .add_node("one", lambda state: {"log": ["one"]})
    .add_node("two", lambda state: {"log": ["two"]})
    .add_node("three", lambda state: {"log": ["three"]})
    .add_edge(START, "one")
    .add_edge("one", "two")
    .add_edge("two", "three")
)
