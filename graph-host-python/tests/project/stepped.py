"""Graphs whose node calls steps, and kills its process at a point of the first attempt."""

import asyncio
import json
import operator
import os
import signal
import sys
import uuid
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.config import get_config
from langgraph.func import task
from langgraph.graph import START, StateGraph

sys.path.append(str(Path(__file__).parents[3] / "examples" / "python"))

from agent.local_model import LocalModel
from steps.step_tools import StepTools
from steps.steps import idempotency_key


class State(TypedDict, total=False):
    file: str
    die_at: str
    log: Annotated[list[str], operator.add]


def die(state: State, point: str) -> None:
    if state["die_at"] == point and get_config()["metadata"]["run_attempt"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def record(state: State, name: str, given: str) -> str:
    """Writes to a ledger outside, as an API with idempotency keys would."""
    answer = f"{name}-{uuid.uuid4()}"
    key = get_config()["configurable"]["heddle_idempotency_key"]
    with open(state["file"], "a") as ledger:
        ledger.write(json.dumps({"key": key, "name": name, "given": given, "answer": answer}) + "\n")
    die(state, f"in {name}")
    return answer


@task
async def effect(state: State, name: str, given: str) -> str:
    return record(state, name, given)


@task
def sync_effect(state: State, name: str, given: str) -> str:
    return record(state, name, given)


async def charge(state: State) -> Any:
    first = await effect(state, "first", "")
    die(state, "after first")
    second, third = await asyncio.gather(effect(state, "second", first), sync_effect(state, "third", first))
    die(state, "after third")
    return {"log": [first, second, third]}


def sync_charge(state: State) -> Any:
    first = sync_effect(state, "first", "").result()
    die(state, "after first")
    both = sync_effect(state, "second", first), sync_effect(state, "third", first)
    log = [first, *(future.result() for future in both)]
    die(state, "after third")
    return {"log": log}


def compiled(node: Any) -> Any:
    return StateGraph(State).add_node("charge", node).add_edge(START, "charge").compile()


steps = compiled(charge)
sync_steps = compiled(sync_charge)
nested = compiled(compiled(charge))


@tool
async def get_weather(city: str) -> str:
    """Asked about the weather of two cities, the model calls this tool twice."""
    if city == "Paris":
        await asyncio.sleep(0.3)  # the other call has ended by then
    config = get_config()
    with open(config["configurable"]["file"], "a") as ledger:
        ledger.write(json.dumps({"key": idempotency_key(), "name": city}) + "\n")
    if city == "Paris" and config["metadata"]["run_attempt"] == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return city


weather_agent = create_agent(LocalModel(token_delay_ms=0), [get_weather], middleware=[StepTools()])
