"""Graphs that block, crash, fork and never end."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    do: str
    seconds: float
    done: str


async def first(state: State) -> State:
    return {"done": "first"}


def fork(seconds: float) -> None:
    if os.fork() == 0:
        time.sleep(seconds)
        os._exit(0)


async def act(state: State) -> State:
    do, seconds = state["do"], state.get("seconds", 0)
    if do == "sleep":
        await asyncio.sleep(seconds)
    elif do == "ignore cancel":
        for _ in range(60):
            try:
                await asyncio.sleep(seconds / 20)
            except asyncio.CancelledError:
                pass
    elif do == "block":
        time.sleep(seconds)
    elif do == "exit":
        fork(seconds)
        subprocess.Popen(["sleep", str(seconds)], close_fds=False)
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
    time.sleep(state.get("seconds", 0))
    return {"done": "thread"}


builder = StateGraph(State).add_node(first).add_node(act)
graph = builder.add_edge(START, "first").add_edge("first", "act").add_edge("act", END).compile()
threaded = StateGraph(State).add_node(act_in_thread).set_entry_point("act_in_thread").compile()
