from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import StreamWriter
from model import RuleModel

model = RuleModel()


def answer(origin: str):
    """Answers the last message token by token, and writes a custom chunk."""

    async def node(state: MessagesState, config: RunnableConfig, writer: StreamWriter):
        writer({"from": origin})
        return {"messages": [await model.ainvoke(state["messages"][-1:], config)]}

    return node


agent = StateGraph(MessagesState).add_node("think", answer("agent")).add_edge(START, "think").compile()


@tool
async def add(a: int, b: int) -> str:
    """Adds two numbers"""
    return str(a + b)


calls = [
    {"id": "call_1", "name": "add", "args": {"a": 1, "b": 2}},
    {"id": "call_2", "name": "ask_agent", "args": {"text": "are you there?"}},
]


grandchild = StateGraph(MessagesState).add_node("deep", answer("grandchild")).add_edge(START, "deep").compile()
child = (
    StateGraph(MessagesState)
    .add_node("reply", answer("child"))
    .add_node("grandchild", grandchild)
    .add_node("call", lambda state: {"messages": [AIMessage("", tool_calls=calls[:1])]})
    .add_node("tools", ToolNode([add]))
    .add_edge(START, "reply")
    .add_edge("reply", "grandchild")
    .add_edge("grandchild", "call")
    .add_edge("call", "tools")
    .compile()
)


@tool
async def ask_agent(text: str, config: RunnableConfig) -> str:
    """Asks another agent"""
    answered = await agent.ainvoke({"messages": [HumanMessage(text)]}, config)
    return str(answered["messages"][-1].content)


# Model and tool calls in the root and in subgraphs, and an agent that one of two parallel tools asks.
graph = (
    StateGraph(MessagesState)
    .add_node("lead", answer("root"))
    .add_node("child", child)
    .add_node("call", lambda state: {"messages": [AIMessage("", tool_calls=calls)]})
    .add_node("tools", ToolNode([add, ask_agent]))
    .add_edge(START, "lead")
    .add_edge("lead", "child")
    .add_edge("child", "call")
    .add_edge("call", "tools")
    .add_edge("tools", END)
    .compile()
)
