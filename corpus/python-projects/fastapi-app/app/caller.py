"""A graph that runs another graph through the server's API, without an address."""

from typing import Any, TypedDict

from langgraph.graph import START, StateGraph
from langgraph_sdk import get_client


class State(TypedDict, total=False):
    text: str
    heard: str


async def call(state: State) -> dict[str, str]:
    values: Any = await get_client().runs.wait(
        None, "agent", input={"messages": [{"role": "user", "content": state["text"]}]}
    )
    return {"heard": values["messages"][-1]["content"]}


graph = StateGraph(State).add_node(call).add_edge(START, "call").compile()
