import asyncio

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph


def calls_of(state: MessagesState):
    return getattr(state["messages"][-1], "tool_calls", [])


def model(state: MessagesState):
    results = [message for message in state["messages"] if message.type == "tool"]
    if results:
        return {"messages": [AIMessage(f"results: {len(results)}")]}
    return {"messages": [AIMessage("", tool_calls=[{"id": "call_1", "name": "wait", "args": {}}])]}


async def tools(state: MessagesState):
    await asyncio.sleep(30)
    return {"messages": [ToolMessage("", tool_call_id=call["id"]) for call in calls_of(state)]}


# Its tool does not end before its run is cancelled.
graph = (
    StateGraph(MessagesState)
    .add_node("model", model)
    .add_node("tools", tools)
    .add_edge(START, "model")
    .add_conditional_edges("model", lambda state: "tools" if calls_of(state) else END, ["tools", END])
    .add_edge("tools", "model")
    .compile()
)
