"""Runs a built-in graph through the code that every run uses, so that the first callers do not pay for it.

They would pay for imports and for the specialization of bytecode. Nothing of the runs leaves the process: checkpoints
and events are dropped. It stops as soon as real work arrives, and is skipped where it would be visible: with LangSmith
tracing or verbose output enabled in the environment.
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from .checkpoints.clock import CheckpointClock, process_clock
from .checkpoints.remote import RemoteCheckpoints
from .frames import CheckpointFrame, CheckpointResult, RunStart
from .runs.active_run import ActiveRun
from .runs.execute_run import OpenedGraph, RunDeps, execute_run
from .savers import Savers
from .work import Work, current_work

# Number of runs after which the interpreter has specialized the code.
_RUNS = 10
_ID = "00000000-0000-4000-8000-000000000000"
_WATCHED = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
    "LANGCHAIN_VERBOSE",
)


class _State(TypedDict, total=False):
    text: str
    echo: str


def _rehearsal() -> RemoteCheckpoints:
    """Returns checkpoints of a server whose database is empty and accepts every write."""
    loop = asyncio.get_running_loop()

    def send(header: CheckpointFrame, body: Sequence[bytes]) -> None:
        if header["t"] == "checkpoint.read":
            answer: CheckpointResult = {"t": "checkpoint.result", "id": header["id"], "checkpoints": [], "values": []}
        elif header["t"] == "checkpoint.write":
            answer = {"t": "checkpoint.result", "id": header["id"]}
            if "finish" in header["item"]:
                answer["finished"] = {"outcome": "success", "waiting": False}
        else:
            return
        loop.call_soon(checkpoints.answered, answer, b"")

    checkpoints = RemoteCheckpoints(send)
    return checkpoints


async def warm_up(deps: RunDeps, is_busy: Callable[[], bool]) -> None:
    if any(os.environ.get(name) == "true" for name in _WATCHED):
        return
    graphs = [_graph(True), _graph(False)]
    savers = Savers(_rehearsal())

    @asynccontextmanager
    async def open_graph(graph_id: str, config: dict[str, Any], context: Any) -> AsyncIterator[OpenedGraph]:
        yield OpenedGraph(graphs[int(graph_id)], True)

    rehearsal = deps._replace(
        savers=savers,
        open_graph=open_graph,
        send=lambda header, body: None,
        congested=lambda: False,
        tracing=None,
    )
    current_work.set(Work(CheckpointClock(process_clock)))
    for n in range(_RUNS):
        if is_busy():
            return
        ended = await execute_run(rehearsal, ActiveRun(_start(n)), _kwargs())
        if ended.end["outcome"] != "success":
            raise RuntimeError(ended.end)
        await asyncio.sleep(0)
    # what is loaded by now stays: the collector need not look at it again
    gc.collect()
    gc.freeze()


def _graph(is_synchronous: bool) -> Any:
    async def answer(state: _State) -> _State:
        return {"echo": state.get("text", "")}

    def answer_in_thread(state: _State) -> _State:
        return {"echo": state.get("text", "")}

    builder = StateGraph(_State).add_node("answer", answer_in_thread if is_synchronous else answer)
    return builder.add_edge(START, "answer").add_edge("answer", END).compile()


def _start(n: int) -> RunStart:
    return {
        "t": "run.start",
        "run_id": _ID,
        "thread_id": _ID,
        "assistant_id": _ID,
        "graph_id": str(n % 2),
        "attempt": 1,
        # alternates between a new thread and one with a state to read
        "fresh_thread": n % 4 < 2,
        "notify": False,
    }


def _kwargs() -> dict[str, Any]:
    return {
        "input": {"text": ""},
        "config": {"configurable": {}, "metadata": {}},
        "stream_mode": ["values"],
        "subgraphs": False,
        "resumable": False,
        "temporary": False,
        "durability": "sync",
    }
