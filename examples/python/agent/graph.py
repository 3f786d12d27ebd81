from typing import Any, TypedDict

from langchain_core.messages import SystemMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from agent.local_model import LocalModel
from agent.tools import TOOLS


class Context(TypedDict, total=False):
    """Configuration of an assistant of this graph, for example {"name": "Ada"}."""

    name: str


model = LocalModel().bind_tools(TOOLS)


async def call_model(state: MessagesState, runtime: Runtime[Context]) -> dict[str, Any]:
    name = (runtime.context or {}).get("name", "Heddle's example agent")
    system = SystemMessage(f"You are {name}. You know the weather and how to calculate.")
    return {"messages": [await model.ainvoke([system, *state["messages"]])]}


def after_model(state: MessagesState) -> str:
    return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END


graph = (
    StateGraph(MessagesState, context_schema=Context)
    .add_node("call_model", call_model)
    .add_node("tools", ToolNode(TOOLS))
    .add_edge(START, "call_model")
    .add_conditional_edges("call_model", after_model, ["tools", END])
    .add_edge("tools", "call_model")
    .compile(name="agent")
)
