from typing import Annotated, Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


def merged(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {**left, **right}


class State(TypedDict, total=False):
    answers: Annotated[dict[str, Any], merged]


# Two branches that both stop for a human in the same step.
graph = (
    StateGraph(State)
    .add_node(
        "left", lambda state: {"answers": {"left": interrupt({"branch": "left"})}}
    )
    .add_node(
        "right", lambda state: {"answers": {"right": interrupt({"branch": "right"})}}
    )
    .add_node(
        "merge",
        lambda state: {"answers": {"merged": "+".join(sorted(state["answers"]))}},
    )
    .add_edge(START, "left")
    .add_edge(START, "right")
    .add_edge(["left", "right"], "merge")
    .add_edge("merge", END)
    .compile()
)
