"""Calls the server in every way that an app has, without a key and with its caller's headers."""

import httpx
from fastapi import FastAPI, Request
from langgraph_sdk import get_client

app = FastAPI()
sent: list[str] = []
send = httpx.AsyncHTTPTransport.handle_async_request


async def recorded(self, request: httpx.Request) -> httpx.Response:
    sent.extend(value for name, value in request.headers.items() if name.startswith("x-heddle-own-"))
    return await send(self, request)


httpx.AsyncHTTPTransport.handle_async_request = recorded
HELLO = {"messages": [{"role": "human", "content": "hello"}]}


@app.post("/custom/drive")
async def drive(request: Request) -> dict:
    dropped = ("content-length", "content-type", "host", "connection", "x-api-key", "cookie", "x-service-key")
    headers = {name: value for name, value in request.headers.items() if name not in dropped}
    key = request.headers.get("x-api-key")
    for client in (get_client(), get_client(api_key=key, headers=headers)):
        thread = await client.threads.create(metadata={"made_by": "the app"})
        thread_id = thread["thread_id"]
        await client.runs.wait(thread_id, "agent", input=HELLO)
        await client.runs.wait(None, "agent", input=HELLO)
        await client.runs.wait(None, "agent", input={"messages": [{"role": "human", "content": "nested"}]})
        await client.runs.create_batch([{"assistant_id": "agent", "input": HELLO}])
        async for _ in client.runs.stream(thread_id, "agent", input=HELLO, stream_mode="debug", stream_resumable=True):
            pass
        await client.crons.create("agent", schedule="0 0 1 1 *", input=HELLO)
        await client.threads.update_state(thread_id, values=HELLO)
    return {"own": sorted(set(sent))}
