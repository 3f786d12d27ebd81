import os

from langgraph.graph import START, StateGraph

from .booking import book
from .state import Trip


def done(state: Trip) -> dict[str, object]:
    return {"log": [f"done with {state.hotel} in {os.environ['TRAVEL_CURRENCY']}"]}


graph = (
    StateGraph(Trip).add_node("book", book).add_node("done", done).add_edge(START, "book").add_edge("book", "done").compile()
)
