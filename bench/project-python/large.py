"""The text of ../project/large.ts: a value of the requested size."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph

LINE = 'A line of a document, with "quotes", a number 12345 and a new line.\n'


class State(TypedDict, total=False):
    size: int
    text: str


def make(state: State) -> State:
    size = state["size"]
    return {"text": (LINE * (size // len(LINE) + 1))[:size]}


graph = StateGraph(State).add_node("maker", make).add_edge(START, "maker").add_edge("maker", END).compile()
