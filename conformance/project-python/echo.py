import os
from typing import Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime


class State(TypedDict, total=False):
    input: Any
    seen: Any


class Context(TypedDict, total=False):
    tone: str
    model: str


def look(state: State, config: RunnableConfig, runtime: Runtime[Context]) -> dict:
    configurable = {key: value for key, value in config["configurable"].items() if not key.startswith("__")}
    return {
        "seen": {
            "input": state.get("input"),
            "configurable": configurable,
            "context": runtime.context,
            "tags": config.get("tags", []),
            "metadata": dict(config.get("metadata", {})),
            "greeting": os.environ.get("CONFORMANCE_GREETING"),
        }
    }


#: Returns what a node can see of its run: configurable, context, tags, metadata, environment.
graph = StateGraph(State, context_schema=Context).add_node("look", look).add_edge(START, "look").compile()
