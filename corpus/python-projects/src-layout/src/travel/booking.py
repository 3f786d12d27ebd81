from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from .state import Trip


def choose(state: Trip) -> dict[str, object]:
    hotel = interrupt({"ask": f"Which hotel in {state.city}?"})
    return {"hotel": hotel, "log": [f"chose {hotel}"]}


def confirm(state: Trip) -> Command[str]:
    if interrupt({"confirm": state.hotel}):
        return Command(goto=END)
    return Command(goto="choose", update={"hotel": None})


book = (
    StateGraph(Trip)
    .add_node("choose", choose)
    .add_node("confirm", confirm, destinations=("choose", END))
    .add_edge(START, "choose")
    .add_edge("choose", "confirm")
    .compile()
)
