from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
import streams
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from model import RuleModel


@tool
async def get_weather(city: str) -> str:
    """The weather of a city"""
    return f"sunny in {city}"


chat = RuleModel()


async def model(state: MessagesState, config: RunnableConfig):
    delay = float((config.get("configurable") or {}).get("delay") or 0)
    return {"messages": [await chat.ainvoke(state["messages"], config, delay=delay)]}


def after_model(state: MessagesState) -> str:
    return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END


graph = (
    StateGraph(MessagesState)
    .add_node("model", model)
    .add_node("tools", ToolNode([get_weather]))
    .add_edge(START, "model")
    .add_conditional_edges("model", after_model, ["tools", END])
    .add_edge("tools", "model")
    .compile(**streams.tools)
)
