import operator
from typing import Annotated, Literal

from langgraph.graph import START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def hall(state: State) -> Command[Literal["room", "yard"]]:
    return Command(goto="room", update={"log": ["hall"]})


# Continues where a command leads.
graph = (
    StateGraph(State)
    .add_node("hall", hall)
    .add_node("room", lambda state: {"log": ["room"]})
    .add_node("yard", lambda state: {"log": ["yard"]})
    .add_edge(START, "hall")
    .compile()
)
