"""The graph of ../project/chat.ts: it answers each message with 250 characters."""

from langchain_core.messages import AIMessage
from langgraph.graph import END, START, MessagesState, StateGraph


def answer(state: MessagesState) -> dict[str, list[AIMessage]]:
    return {"messages": [AIMessage("a" * 250)]}


graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").add_edge("answer", END).compile()
