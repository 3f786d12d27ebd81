import operator
from typing import Annotated

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send, interrupt
from typing_extensions import TypedDict


class Output(TypedDict):
    log: Annotated[list[str], operator.add]


class State(Output):
    members: list[str]


class Member(MessagesState, Output):
    name: str


# Asks a human, then lists the types of its messages.
member = (
    StateGraph(Member, output_schema=Output)
    .add_node("think", lambda state: {"messages": [AIMessage(f"I am {state['name']}.")]})
    .add_node("ask", lambda state: {"log": [f"{state['name']}: {interrupt({'name': state['name']})}"]})
    .add_node("list", lambda state: {"log": [f"{state['name']} has {', '.join(m.type for m in state['messages'])}"]})
    .add_edge(START, "think")
    .add_edge("think", "ask")
    .add_edge("ask", "list")
    .compile()
)

# Sends each name with a message to a member; all of them stop for a human in the same step.
graph = (
    StateGraph(State)
    .add_node("member", member)
    .add_node("close", lambda state: {"log": ["closed"]})
    .add_conditional_edges(
        START,
        lambda state: [Send("member", {"name": name, "messages": [HumanMessage("Go.")]}) for name in state["members"]],
        ["member"],
    )
    .add_edge("member", "close")
    .compile()
)
