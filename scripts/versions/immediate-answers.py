"""Answers interrupts with the Python client in the moment in which they become visible. Arguments: URL, count. Exits
with 1 if an answer was rejected. Run by immediate-answers.ts."""

import asyncio
import sys
import uuid

from langgraph_sdk import get_client

GRAPH, QUESTION, ANSWER = "approval", {"topic": "tea"}, "yes"


async def rest(client):
    thread = (await client.threads.create())["thread_id"]
    async for part in client.runs.stream(thread, GRAPH, input=QUESTION, stream_mode=["updates"]):
        if isinstance(part.data, dict) and "__interrupt__" in part.data:
            break
    return await client.runs.wait(thread, GRAPH, command={"resume": ANSWER}, multitask_strategy="reject")


async def protocol_v2(client):
    async with client.threads.stream(thread_id=str(uuid.uuid4()), assistant_id=GRAPH) as thread:
        await thread.run.start(input=QUESTION)
        async for _ in thread.values:
            if thread.interrupted:
                break
        await thread.run.respond(ANSWER)
        return await thread.output


async def count_rejected(name, client, talk, count):
    rejected = []
    for _ in range(count):
        try:
            state = await talk(client)
            if (state or {}).get("answer") != ANSWER:
                rejected.append(f"the answer had no effect: {state!r}")
        except Exception as error:
            rejected.append(f"{type(error).__name__}: {error}"[:300])
    print(f"python, {name}: {len(rejected)} of {count} answers rejected", flush=True)
    for message in sorted(set(rejected)):
        print(f"  {message}", flush=True)
    return len(rejected)


async def main(url, count):
    client = get_client(url=url, api_key=None)
    rejected = await count_rejected("a run's stream", client, rest, count)
    if hasattr(client.threads, "stream"):
        rejected += await count_rejected("protocol v2", client, protocol_v2, count)
    return 1 if rejected else 0


sys.exit(asyncio.run(main(sys.argv[1], int(sys.argv[2]))))
