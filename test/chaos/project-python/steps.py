import asyncio
import math
import operator
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.func import task
from langgraph.graph import END, START, StateGraph
from langgraph.types import StreamWriter

from ledger import next_execution, record

SLICE_MS = 100


class State(TypedDict, total=False):
    job: dict
    """`token`, `steps`, the length of a step in ms as `pause`, and the custom events of a step as `frames`."""
    done: Annotated[list[str], operator.add]
    """`<token>/<step>` of each step, in commit order."""
    pages: Annotated[list[str], operator.add]
    """A page for each of `done`, so that the list is long enough to be stored as changes."""


_PAGE = " " + "all work and no play " * 60


def steps_done(state: State) -> int:
    return sum(entry.startswith(f"{state['job']['token']}/") for entry in state.get("done", []))


@task
async def effect(about: dict) -> str:
    config = get_config()
    key = config["configurable"]["heddle_idempotency_key"]
    record(config, phase="effect", **about, key=key)
    return key


async def work(state: State, config: RunnableConfig, writer: StreamWriter) -> State:
    """Runs one step of the job: a line in the ledger at its start and end, and the custom events between them."""
    job, done = state["job"], state.get("done", [])
    token, frames, pause = job["token"], job["frames"], job["pause"]
    told = [page.split(" ", 1)[0] for page in state.get("pages", [])]
    if told != done:
        raise ValueError(f"the pages {told} are not those of {done}")
    step = steps_done(state) + 1
    about = {"token": token, "step": step, "execution": next_execution()}
    record(config, phase="start", **about, seen=len(done), last=done[-1] if done else None)
    slices = max(frames, math.ceil(pause / SLICE_MS), 1)
    for k in range(1, slices + 1):
        if k <= frames:
            writer({**about, "k": k, "n": frames})
        await asyncio.sleep(pause / slices / 1000)
    record(config, phase="used", **about, key=await effect(about))
    record(config, phase="end", **about, frames=frames)
    return {"done": [f"{token}/{step}"], "pages": [f"{token}/{step}{_PAGE}"]}


def following(state: State) -> str:
    return "work" if steps_done(state) < state["job"]["steps"] else END


graph = StateGraph(State).add_node(work).add_edge(START, "work").add_conditional_edges("work", following).compile()
