from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class CustomError(Exception):
    pass


class State(TypedDict, total=False):
    reason: str
    prepared: bool


def fail(state: State):
    raise CustomError(state.get("reason") or "boom")


graph = (
    StateGraph(State)
    .add_node("prepare", lambda state: {"prepared": True})
    .add_node("fail", fail)
    .add_edge(START, "prepare")
    .add_edge("prepare", "fail")
    .compile()
)
