from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from langchain.chat_models import init_chat_model
from langchain_core.messages import AnyMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.runtime import Runtime
from typing_extensions import TypedDict


class Context(TypedDict, total=False):
    """Parameters of an assistant."""

    model: str
    system_prompt: str


@dataclass
class State:
    messages: Annotated[list[AnyMessage], add_messages] = field(default_factory=list)


@tool
async def search(query: str) -> str:
    """Searches the web."""
    return f"results for {query}"


async def call_model(state: State, runtime: Runtime[Context]) -> dict[str, list[AnyMessage]]:
    context = runtime.context or {}
    model = init_chat_model(context.get("model", "openai:gpt-4.1-mini")).bind_tools([search])
    system = SystemMessage(context.get("system_prompt", "You are helpful."))
    return {"messages": [await model.ainvoke([system, *state.messages])]}


graph = (
    StateGraph(State, context_schema=Context)
    .add_node(call_model)
    .add_node("tools", ToolNode([search]))
    .add_edge(START, "call_model")
    .add_conditional_edges("call_model", tools_condition)
    .add_edge("tools", "call_model")
    .compile(name="New Graph")
)
