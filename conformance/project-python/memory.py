from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore


class State(TypedDict, total=False):
    user: str
    fact: str
    known: list[str]
    like: str
    """Query for semantic search; only the most similar fact is returned."""


async def remember(state: State, *, store: BaseStore) -> dict:
    namespace = ("facts", state["user"])
    if fact := state.get("fact"):
        await store.aput(namespace, fact, {"text": fact})
    like = state.get("like")
    items = await store.asearch(namespace, query=like, limit=1) if like else await store.asearch(namespace)
    return {"known": sorted(str(item.value["text"]) for item in items)}


#: Remembers a fact of a user across threads, in the store.
graph = StateGraph(State).add_node("remember", remember).add_edge(START, "remember").compile()
