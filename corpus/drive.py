"""Drives a project of the corpus with the official Python client: ``python drive.py URL PROJECT``. Exits with 1 and a
traceback when it does not do what it must."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from langgraph_sdk import get_client, get_sync_client

URL = sys.argv[1]
client = get_client(url=URL, api_key=None)


def say(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


async def turn(assistant: str, asked: str, **more: Any) -> str:
    """Streams one turn on a new thread and returns the last message, which must be among the tokens."""
    thread = await client.threads.create()
    streamed, events = "", 0
    async for part in client.runs.stream(
        thread["thread_id"], assistant, input=say(asked), stream_mode=["messages-tuple", "values"], **more
    ):
        assert part.event != "error", part.data
        if part.event.startswith("messages"):
            events += 1
            streamed += text(part.data[0])
    state = await client.threads.get_state(thread["thread_id"])
    last = text(state["values"]["messages"][-1])
    assert events > 2, f"{events} message events"
    assert last in streamed, f"{last!r} is not among the tokens: {streamed!r}"
    return last


async def template() -> None:
    assert "results for tea" in await turn("agent", 'use search {"query": "tea"}', context={"system_prompt": "Brief."})
    schemas = await client.assistants.get_schemas("agent")
    assert sorted(schemas["context_schema"]["properties"]) == ["model", "system_prompt"], schemas
    graph = await client.assistants.get_graph("agent")
    assert {"call_model", "tools"} <= {node["id"] for node in graph["nodes"]}, graph


async def uv_workspace() -> None:
    thread = (await client.threads.create())["thread_id"]
    paused: Any = await client.runs.wait(thread, "agent", input=say('use send_mail {"to": "ben"}'))
    assert len(paused["__interrupt__"]) == 1, paused
    values: Any = await client.runs.wait(thread, "agent", command={"resume": {"decisions": [{"type": "approve"}]}})
    assert "sent to ben (support)" in text(values["messages"][-1]), values


async def src_layout() -> None:
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "agent", input={"city": "Rome", "nights": 3})
    await client.runs.wait(thread, "agent", command={"resume": "Grand"})
    done: Any = await client.runs.wait(thread, "agent", command={"resume": True})
    assert done["hotel"] == "Grand" and done["nights"] == 3, done
    history = await client.threads.get_history(thread)
    assert len(history) >= 3, history
    sync = get_sync_client(url=URL, api_key=None)
    try:
        sync.runs.wait(None, "agent", input={"city": "Rome", "nights": 0})
    except Exception as error:
        assert "nights" in str(error), error
    else:
        raise AssertionError("nights: 0 was accepted")


async def requirements() -> None:
    await client.store.put_item(["notes", "carl"], key="tea", value={"text": "green tea with lemon"})
    await client.store.put_item(["notes", "carl"], key="train", value={"text": "the train leaves at nine"})
    found = await client.store.search_items(["notes", "carl"], query="tea lemon", limit=1)
    assert [item["key"] for item in found["items"]] == ["tea"], found
    config = {"configurable": {"user_id": "carl"}}
    assert await turn("agent", "one two three", config=config) == "You said: one two three"


async def fastapi_app() -> None:
    assert await turn("agent", "one two three") == "You said: one two three"
    called: Any = await client.runs.wait(None, "caller", input={"text": "hello"})
    assert called["heard"] == "You said: hello", called


async def custom_auth() -> None:
    anna = get_client(url=URL, api_key=None, headers={"authorization": "Bearer token-anna"})
    ben = get_client(url=URL, api_key=None, headers={"authorization": "Bearer token-ben"})
    thread = (await anna.threads.create())["thread_id"]
    values: Any = await anna.runs.wait(thread, "agent", input=say("hi"))
    assert text(values["messages"][-1]) == "Hello anna", values
    await refused(404, ben.threads.get(thread))
    await refused(401, client.threads.get(thread))


async def deep_agent() -> None:
    assert "results for tea" in await turn("agent", 'use internet_search {"query": "tea"}')


async def mixed() -> None:
    assert "3 words" in await turn("agent", 'use count {"text": "three short words"}')
    values: Any = await client.runs.wait(None, "shout", input=say("hello"))
    assert values["shouted"] == "HELLO", values


async def refused(status: int, call: Awaitable[Any]) -> None:
    try:
        await call
    except Exception as error:
        assert getattr(getattr(error, "response", None), "status_code", None) == status, error
    else:
        raise AssertionError(f"accepted, not refused with {status}")


CASES: list[Callable[[], Awaitable[None]]] = [
    template,
    uv_workspace,
    src_layout,
    requirements,
    fastapi_app,
    custom_auth,
    deep_agent,
    mixed,
]
name = sys.argv[2].replace("-", "_")
asyncio.run(next(case for case in CASES if case.__name__ == name)())
