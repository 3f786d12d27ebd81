import operator
from datetime import datetime, timezone
from typing import Annotated, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.func import task
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from ledger import monotonic, record


class State(TypedDict, total=False):
    job: dict
    """`token`, `waits` with `ms` and `signal`, and as `offset` the machine's time less its monotonic clock in ms."""
    ended: Annotated[list[str], operator.add]
    """`<n>:timer` or `<n>:signal:<payload>` of each wait n, in order."""


@task
async def effect(token: str, step: int, ms: float) -> dict:
    """Of wait n: step 2n - 1 before it, 2n after it."""
    config = get_config()
    key = config["configurable"]["heddle_idempotency_key"]
    record(config, phase="effect", token=token, step=step, key=key)
    return {"key": key, "until": monotonic() + ms}


async def wait(state: State, config: RunnableConfig) -> State:
    """Waits, with a journalled effect before and after. The first one decides when the timer ends."""
    job, n = state["job"], len(state.get("ended", [])) + 1
    token, ms, signal = job["token"], job["waits"][n - 1].get("ms"), job["waits"][n - 1].get("signal")
    before = await effect(token, 2 * n - 1, ms or 0)
    record(config, phase="used", token=token, step=2 * n - 1, key=before["key"])
    timer = {} if ms is None else {"until": before["until"]}
    record(config, phase="wait", token=token, wait=n, **timer)
    heddle_wait = {} if signal is None else {"signal": signal}
    if timer:
        time = datetime.fromtimestamp((timer["until"] + job["offset"]) / 1000, timezone.utc)
        heddle_wait["until"] = time.isoformat()
    answer = interrupt({"heddle_wait": heddle_wait})
    end = f"{n}:signal:{answer['payload']}" if "signal" in answer else f"{n}:timer"
    record(config, phase="woken", token=token, wait=n, answer=end)
    after = await effect(token, 2 * n, 0)
    record(config, phase="used", token=token, step=2 * n, key=after["key"])
    return {"ended": [end]}


def following(state: State) -> str:
    return "wait" if len(state.get("ended", [])) < len(state["job"]["waits"]) else END


graph = StateGraph(State).add_node(wait).add_edge(START, "wait").add_conditional_edges("wait", following).compile()
