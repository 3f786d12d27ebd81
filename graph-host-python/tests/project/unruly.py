"""Graphs that block, crash, fork and never end."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, TypedDict
from uuid import uuid4

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    do: str
    seconds: float
    """Path of the file that ends the node, which says by a file beside it that it has begun."""
    gate: str
    done: str


async def first(state: State) -> State:
    return {"done": "first"}


def begin(gate: str) -> None:
    Path(f"{gate}.{uuid4()}").touch()


def wait_at(gate: str) -> None:
    """Blocks its thread until the test opens the gate, at most a minute."""
    begin(gate)
    for _ in range(3000):
        if os.path.exists(gate):
            return
        time.sleep(0.02)


def fork(gate: str) -> None:
    if os.fork() == 0:
        wait_at(gate)
        os._exit(0)


async def act(state: State) -> State:
    do, seconds = state["do"], state.get("seconds", 0)
    if do == "sleep":
        await asyncio.sleep(seconds)
    elif do == "ignore cancel":
        begin(state["gate"])
        for _ in range(3000):
            try:
                if os.path.exists(state["gate"]):
                    break
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                pass
        begin(state["gate"] + ".end")
    elif do == "block":
        wait_at(state["gate"])
    elif do == "exit":
        fork(state["gate"])
        until_open = 'for i in $(seq 3000); do [ -e "$0" ] && exit; sleep 0.02; done'
        subprocess.Popen(["sh", "-c", until_open, state["gate"]], close_fds=False)
        os._exit(7)
    elif do == "sys.exit":
        sys.exit(3)
    elif do == "stray":
        asyncio.get_running_loop().call_soon(stray)
        threading.Thread(target=stray).start()
        await asyncio.sleep(0.05)
    elif do == "stray task":
        asyncio.create_task(leave_behind())
        await asyncio.sleep(0.05)
    elif do == "print":
        print("printed by the node")
    return {"done": do}


async def leave_behind() -> None:
    stray()


def stray() -> Any:
    raise ValueError("left behind")


def act_in_thread(state: State) -> State:
    wait_at(state["gate"])
    return {"done": "thread"}


builder = StateGraph(State).add_node(first).add_node(act)
graph = builder.add_edge(START, "first").add_edge("first", "act").add_edge("act", END).compile()
threaded = StateGraph(State).add_node(act_in_thread).set_entry_point("act_in_thread").compile()
