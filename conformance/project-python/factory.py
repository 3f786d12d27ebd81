from typing import TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph


class State(TypedDict, total=False):
    by: str
    hops: int


async def make_graph(config: RunnableConfig):
    """Creates a graph for each run: the run's configuration determines its nodes."""
    flavour = str((config.get("configurable") or {}).get("flavour", "plain"))
    builder = (
        StateGraph(State).add_node("work", lambda state: {"by": flavour, "hops": 1}).add_edge(START, "work")
    )
    if flavour != "long":
        return builder.compile()
    builder.add_node("extra", lambda state: {"hops": state["hops"] + 1}).add_edge("work", "extra")
    return builder.compile()
