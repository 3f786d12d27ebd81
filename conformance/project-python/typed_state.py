import operator
from typing import Annotated

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from pydantic import BaseModel


class State(BaseModel):
    add: int | None = None
    total: Annotated[int, operator.add] = 0


class Context(BaseModel):
    factor: int = 2


def add(state: State, runtime: Runtime[Context]):
    return {"total": (1 if state.add is None else state.add) * (runtime.context.factor if runtime.context else 2)}


# Adds `add`, multiplied by the context's factor, to its total; its types are models of pydantic.
graph = StateGraph(State, context_schema=Context).add_node("sum", add).add_edge(START, "sum").compile()
