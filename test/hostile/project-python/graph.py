from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    text: str


graph = (
    StateGraph(State)
    .add_node("echo", lambda state: state)
    .add_edge(START, "echo")
    .add_edge("echo", END)
    .compile()
)
