import statistics
from typing import Any, TypedDict

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.graph import END, START, StateGraph

from analyst.model import choose_model


class State(TypedDict):
    numbers: list[float]
    mean: float
    slope: float
    text: str


model = choose_model()


def calculate(state: State) -> dict[str, Any]:
    numbers = state["numbers"]
    slope, _ = statistics.linear_regression(range(len(numbers)), numbers)
    return {"mean": round(statistics.fmean(numbers), 2), "slope": round(slope, 2)}


async def describe(state: State) -> dict[str, Any]:
    task = SystemMessage("Say in one short sentence how numbers develop that change by this much at each step.")
    answer = await model.ainvoke([task, HumanMessage(str(state["slope"]))])
    return {"text": answer.text}


graph = (
    StateGraph(State)
    .add_node("calculate", calculate)
    .add_node("describe", describe)
    .add_edge(START, "calculate")
    .add_edge("calculate", "describe")
    .add_edge("describe", END)
    .compile(name="analyst")
)
