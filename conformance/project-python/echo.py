import os
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    input: Any
    seen: Any


class Context(TypedDict, total=False):
    tone: str
    model: str


def look(state: State, config: RunnableConfig, runtime: Runtime[Context]):
    """Returns what a node can see of its run: configurable, context, tags, metadata, environment."""
    configurable = config.get("configurable") or {}
    return {
        "seen": {
            "input": state.get("input"),
            "configurable": {
                key: value
                for key, value in configurable.items()
                if not key.startswith("__")
            },
            "context": runtime.context,
            "tags": config.get("tags") or [],
            "metadata": config.get("metadata") or {},
            "greeting": os.environ.get("CONFORMANCE_GREETING"),
        }
    }


graph = (
    StateGraph(State, context_schema=Context)
    .add_node("look", look)
    .add_edge(START, "look")
    .compile()
)
