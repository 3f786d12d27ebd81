"""One node that echoes its input: the measured time is that of everything around it."""

from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    text: str
    echo: str


def answer(state: State) -> State:
    return {"echo": state["text"]}


graph = StateGraph(State).add_node("answer", answer).add_edge(START, "answer").add_edge("answer", END).compile()
