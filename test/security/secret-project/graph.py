"""Answers, asks first if told to, and calls its own server if told to."""

import json

from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt
from langgraph_sdk import get_client


async def reply(state: MessagesState) -> dict:
    text = state["messages"][-1].content
    if text == "nested":
        await get_client().runs.wait(None, "agent", input={"messages": [{"role": "human", "content": "hello"}]})
    answer = interrupt({"question": "sure?"}) if text == "ask" else "fine"
    return {"messages": [{"role": "ai", "content": json.dumps(answer)}]}


agent = StateGraph(MessagesState).add_node(reply).add_edge(START, "reply").compile()
