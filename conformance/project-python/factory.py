from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    by: str
    hops: int


async def make_graph(config: RunnableConfig):
    """Creates a graph for each run: the run's configuration determines its nodes."""
    flavour = str((config.get("configurable") or {}).get("flavour") or "plain")
    builder = (
        StateGraph(State)
        .add_node("work", lambda state: {"by": flavour, "hops": 1})
        .add_edge(START, "work")
    )
    if flavour == "long":
        builder.add_node("extra", lambda state: {"hops": state["hops"] + 1}).add_edge(
            "work", "extra"
        )
    return builder.compile()
