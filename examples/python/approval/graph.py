import operator
from typing import Annotated, Any, Literal, TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt


class State(TypedDict, total=False):
    topic: str
    """Subject of the text, for example "lunch on Friday"."""
    recipient: str
    draft: str
    status: Literal["drafted", "approved", "rejected", "sent"]
    log: Annotated[list[str], operator.add]


def write(state: State) -> State:
    recipient = state.get("recipient", "ada@example.com")
    draft = f"Dear {recipient.split('@')[0]}, let us talk about {state['topic']}."
    return {"recipient": recipient, "draft": draft, "status": "drafted", "log": ["drafted"]}


def review(state: State) -> Command[Literal["send", "review", "__end__"]]:
    answer: Any = interrupt(
        {
            "question": "Shall this be sent?",
            "draft": state["draft"],
            "answers": ["approve", {"action": "edit", "draft": "…"}, {"action": "reject", "reason": "…"}],
        }
    )
    decision = {"action": answer} if isinstance(answer, str) else answer
    match decision.get("action"):
        case "approve":
            return Command(update={"status": "approved", "log": ["approved"]}, goto="send")
        case "edit":
            # an edited text is reviewed again
            return Command(update={"draft": decision["draft"], "log": ["edited"]}, goto="review")
        case "reject":
            reason = f": {decision['reason']}" if decision.get("reason") else ""
            return Command(update={"status": "rejected", "log": [f"rejected{reason}"]}, goto=END)
        case _:
            raise ValueError(f"Not an answer: {answer}. Use approve, edit or reject.")


def send(state: State) -> State:
    return {"status": "sent", "log": [f"sent to {state.get('recipient')}"]}


graph = (
    StateGraph(State)
    .add_node("write", write)
    .add_node("review", review)
    .add_node("send", send)
    .add_edge(START, "write")
    .add_edge("write", "review")
    .add_edge("send", END)
    .compile(name="approval")
)
