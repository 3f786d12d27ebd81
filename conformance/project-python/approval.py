import operator
from typing import Annotated, Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    topic: str
    answer: Any
    log: Annotated[list[str], operator.add]


def draft(state: State):
    return {"log": [f"draft:{state.get('topic')}"]}


def ask(state: State) -> Command[Literal["publish", "drop"]]:
    answer = interrupt({"question": f"Publish {state.get('topic')}?"})
    return Command(
        update={"answer": answer, "log": ["asked"]},
        goto="drop" if answer == "no" else "publish",
    )


# draft → ask, which stops for a human → publish or, when the answer is "no", drop.
graph = (
    StateGraph(State)
    .add_node("draft", draft)
    .add_node("ask", ask)
    .add_node("publish", lambda state: {"log": ["published"]})
    .add_node("drop", lambda state: {"log": ["dropped"]})
    .add_edge(START, "draft")
    .add_edge("draft", "ask")
    .add_edge("publish", END)
    .add_edge("drop", END)
    .compile()
)
