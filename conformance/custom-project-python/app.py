import os

from fastapi import FastAPI, Request
from langgraph_sdk import get_client

app = FastAPI()


@app.middleware("http")
async def served_by(request: Request, call_next):
    response = await call_next(request)
    response.headers["x-served-by"] = "the project"
    return response


@app.get("/whoami")
async def whoami(request: Request) -> dict:
    return request.user.dict()


@app.post("/ask")
async def ask(request: Request) -> dict:
    headers = {"authorization": request.headers.get("authorization", "")}
    client = get_client(url=f"http://127.0.0.1:{os.environ['PORT']}", api_key=None, headers=headers)
    return await client.runs.wait(None, "agent", input={"messages": []})
