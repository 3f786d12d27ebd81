"""Checks of the Python clients of an agent server: langgraph-sdk and RemoteGraph. Prints a JSON object of failures."""

import asyncio
import json
import sys
import uuid

from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_client, get_sync_client

URL = sys.argv[1]
client = get_client(url=URL, api_key=None)


async def runs():
    values = await client.runs.wait(None, "counter", input={"add": 2})
    assert values["total"] == 4, values
    thread = await client.threads.create(metadata={"by": "python"})
    run = await client.runs.create(thread["thread_id"], "counter", input={"add": 3})
    joined = await client.runs.join(thread["thread_id"], run["run_id"])
    assert joined["total"] == 6, joined
    found = await client.threads.search(metadata={"by": "python"})
    assert thread["thread_id"] in [each["thread_id"] for each in found]
    assert len(await client.assistants.search()) >= 10
    sync = get_sync_client(url=URL, api_key=None)
    assert sync.runs.wait(None, "counter", input={"add": 2})["total"] == 4


async def streaming():
    message = {"messages": [{"role": "user", "content": "What is the weather in Rome?"}]}
    events = []
    async for part in client.runs.stream(None, "agent", input=message, stream_mode=["messages-tuple", "values"]):
        assert part.event != "error", part
        events.append(part.event)
    assert events[0] == "metadata" and "messages" in events and "values" in events, events


async def interrupts():
    thread = (await client.threads.create())["thread_id"]
    paused = await client.runs.wait(thread, "approval", input={"topic": "a"})
    assert paused["__interrupt__"][0]["value"] == {"question": "Publish a?"}, paused
    values = await client.runs.wait(thread, "approval", command={"resume": "yes"})
    assert values["log"][-1] == "published", values


async def state():
    thread = (await client.threads.create())["thread_id"]
    await client.runs.wait(thread, "counter", input={"add": 2})
    await client.threads.update_state(thread, {"total": 10})
    assert (await client.threads.get_state(thread))["values"]["total"] == 14
    history = await client.threads.get_history(thread, limit=100)
    assert len(history) == 5, len(history)
    schemas = await client.assistants.get_schemas("counter")
    assert "total" in schemas["output_schema"]["properties"], schemas


async def store():
    space = ["python", str(uuid.uuid4())]
    await client.store.put_item(space, "a", {"text": "green tea"})
    assert (await client.store.get_item(space, "a"))["value"] == {"text": "green tea"}
    assert len((await client.store.search_items(space))["items"]) == 1
    await client.store.delete_item(space, "a")


async def remote_graph():
    remote = RemoteGraph("counter", url=URL)
    assert (await remote.ainvoke({"add": 2}))["total"] == 4
    assert len([part async for part in remote.astream({"add": 2}, stream_mode="updates")]) == 2
    assert {"increment", "double"} <= set((await remote.aget_graph()).nodes)
    approval = RemoteGraph("approval", url=URL)
    config = {"configurable": {"thread_id": (await client.threads.create())["thread_id"]}}
    await approval.ainvoke({"topic": "b"}, config)
    snapshot = await approval.aget_state(config)
    assert snapshot.next == ("ask",) and snapshot.tasks[0].interrupts, snapshot
    assert (await approval.ainvoke(Command(resume="no"), config))["log"][-1] == "dropped"
    await approval.aupdate_state(config, {"log": ["noted"]})
    assert (await approval.aget_state(config)).values["log"][-1] == "noted"
    assert len([each async for each in approval.aget_state_history(config)]) > 3


async def main():
    failures = {}
    for check in [runs, streaming, interrupts, state, store, remote_graph]:
        try:
            await asyncio.wait_for(check(), 120)
        except BaseException as error:
            failures[check.__name__] = repr(error)[:2000]
    print(json.dumps(failures))


asyncio.run(main())
