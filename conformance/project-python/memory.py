from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    user: str
    fact: str
    known: list[str]
    # query for semantic search; only the most similar fact is returned
    like: str


async def remember(state: State, *, store: BaseStore):
    """Remembers a fact of a user across threads, in the store."""
    namespace = ("facts", state["user"])
    fact, like = state.get("fact"), state.get("like")
    if fact:
        await store.aput(namespace, fact, {"text": fact})
    items = (
        await store.asearch(namespace, query=like, limit=1)
        if like
        else await store.asearch(namespace)
    )
    return {"known": sorted(str(item.value["text"]) for item in items)}


graph = (
    StateGraph(State)
    .add_node("remember", remember)
    .add_edge(START, "remember")
    .compile()
)
