from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph


async def answer(state: MessagesState) -> dict[str, object]:
    return {"messages": [await ChatOpenAI(model="gpt-4.1-mini").ainvoke(state["messages"])]}


graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile()
