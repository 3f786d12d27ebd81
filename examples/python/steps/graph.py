import operator
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph

from steps.steps import sleep_for, step, wait_for_signal


class State(TypedDict, total=False):
    patience: float
    """Seconds after which an unpaid order is cancelled."""
    packing: float
    """Seconds between packing and shipping."""
    log: Annotated[list[str], operator.add]


async def order(what: str) -> str:
    """A call to another system, which knows the key of each request."""
    return await step(what, lambda key: f"{what} {key}")


async def pay(state: State) -> Any:
    invoice = await order("invoice")
    patience = timedelta(seconds=state.get("patience", 60))
    deadline = await step("deadline", lambda _: (datetime.now(timezone.utc) + patience).isoformat())
    paid = wait_for_signal("paid", datetime.fromisoformat(deadline))
    return {"log": [invoice, f"paid {paid['amount']}" if paid else "not paid"]}


async def ship(state: State) -> Any:
    if state["log"][-1] == "not paid":
        return {"log": ["cancelled"]}
    if state.get("packing"):
        await sleep_for(timedelta(seconds=state["packing"]))
    return {"log": [await order("parcel")]}


graph = (
    StateGraph(State)
    .add_node("pay", pay)
    .add_node("ship", ship)
    .add_edge(START, "pay")
    .add_edge("pay", "ship")
    .compile(name="order")
)
