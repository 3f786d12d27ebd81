import asyncio

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph


def who(state: MessagesState, config: RunnableConfig) -> dict:
    """Replies with the caller's name, team and ``x-`` headers."""
    configurable = config["configurable"]
    user = configurable.get("langgraph_auth_user") or {}
    headers = [key for key in configurable if key.startswith("x-")]
    text = f"{user.get('identity')} of team {user.get('team')}, with {' '.join(headers)}"
    return {"messages": [{"role": "ai", "content": text}]}


async def wait(state: MessagesState) -> dict:
    await asyncio.sleep(30)
    return {}


graph = StateGraph(MessagesState).add_node("who", who).add_edge(START, "who").add_edge("who", END).compile()
slow = StateGraph(MessagesState).add_node("wait", wait).add_edge(START, "wait").add_edge("wait", END).compile()
