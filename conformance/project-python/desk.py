from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send, interrupt


@tool
async def approve(what: str) -> str:
    """Asks a human"""
    return f"{what}: {interrupt({'what': what})}"


calls = [{"id": f"call_{what}", "name": "approve", "args": {"what": what}} for what in ("tea", "cake")]
tools = ToolNode([approve])


class State(MessagesState):
    apart: bool


async def run_tools(state: MessagesState, config: RunnableConfig):
    return await tools.ainvoke({"messages": state["messages"]}, config)


def after_plan(state: State):
    if not state.get("apart"):
        return "tools"
    return [Send("tools", {"messages": [AIMessage("", tool_calls=[call])]}) for call in calls]


# Two tools that each ask a human: both in one task or, with `apart`, each in its own task.
graph = (
    StateGraph(State)
    .add_node("plan", lambda state: {"messages": [AIMessage("", tool_calls=calls)]})
    .add_node("tools", run_tools)
    .add_node("close", lambda state: {"messages": [AIMessage("closed")]})
    .add_edge(START, "plan")
    .add_conditional_edges("plan", after_plan, ["tools"])
    .add_edge("tools", "close")
    .add_edge("close", END)
    .compile()
)
