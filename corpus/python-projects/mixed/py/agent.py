from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def count(text: str) -> str:
    """Counts words."""
    return f"{len(text.split())} words"


def call_model(state: MessagesState) -> dict[str, object]:
    return {"messages": [ChatOpenAI(model="gpt-4.1-mini").bind_tools([count]).invoke(state["messages"])]}


graph = (
    StateGraph(MessagesState)
    .add_node(call_model)
    .add_node("tools", ToolNode([count]))
    .add_edge(START, "call_model")
    .add_conditional_edges("call_model", tools_condition)
    .add_edge("tools", "call_model")
    .compile()
)
