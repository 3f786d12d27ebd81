import itertools
import json
import os
import time

from langchain_core.runnables import RunnableConfig

_executions = itertools.count(1)


def next_execution() -> str:
    """Returns an id for one call of a node in this process."""
    return f"{os.getpid()}.{next(_executions)}"


def monotonic() -> float:
    """Returns the machine's monotonic clock in ms, which no fault affects."""
    return time.monotonic_ns() // 1000 / 1000


def record(config: RunnableConfig, **line: object) -> None:
    """Appends a line to the effects ledger, as project/ledger.ts does."""
    file = os.environ.get("CHAOS_LEDGER")
    if not file:
        return
    about = {
        "t": monotonic(),
        "run": config["configurable"]["run_id"],
        "thread": config["configurable"]["thread_id"],
        "attempt": config["metadata"].get("run_attempt", 0),
        "pid": os.getpid(),
    }
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, (json.dumps({**about, **line}) + "\n").encode())
    finally:
        os.close(descriptor)
