import operator
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from ledger import record


class State(TypedDict, total=False):
    job: dict
    answers: Annotated[list[str], operator.add]
    """In the order of the questions."""


async def ask(state: State, config: RunnableConfig) -> State:
    """Asks one question after another; the answer to question i is expected to begin with `a<i>-`."""
    token = state["job"]["token"]
    question = len(state.get("answers", [])) + 1
    record(config, phase="ask", token=token, question=question)
    answer = interrupt({"question": question})
    record(config, phase="answer", token=token, question=question, answer=answer)
    return {"answers": [answer]}


def following(state: State) -> str:
    return "ask" if len(state.get("answers", [])) < state["job"]["questions"] else END


graph = StateGraph(State).add_node(ask).add_edge(START, "ask").add_conditional_edges("ask", following).compile()
