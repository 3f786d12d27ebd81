from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from model import RuleModel


@tool
async def get_weather(city: str) -> str:
    """The weather of a city"""
    return f"sunny in {city}"


async def call_model(state: MessagesState, config: RunnableConfig) -> dict:
    model = RuleModel(delay=float(config["configurable"].get("delay", 0)))
    return {"messages": [await model.ainvoke(state["messages"], config)]}


def route(state: MessagesState) -> str:
    return "tools" if state["messages"][-1].tool_calls else END


graph = (
    StateGraph(MessagesState)
    .add_node("model", call_model)
    .add_node("tools", ToolNode([get_weather]))
    .add_edge(START, "model")
    .add_conditional_edges("model", route, ["tools", END])
    .add_edge("tools", "model")
    .compile()
)
