from typing import TypedDict

from langgraph.graph import START, StateGraph


class CustomError(Exception):
    pass


class State(TypedDict, total=False):
    reason: str
    prepared: bool


def fail(state: State) -> dict:
    raise CustomError(state.get("reason") or "boom")


graph = (
    StateGraph(State)
    .add_node("prepare", lambda state: {"prepared": True})
    .add_node("fail", fail)
    .add_edge(START, "prepare")
    .add_edge("prepare", "fail")
    .compile()
)
