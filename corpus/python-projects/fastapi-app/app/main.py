import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from langgraph_sdk import get_client
from pydantic import BaseModel


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    app.state.greeting = "ready"
    yield


app = FastAPI(lifespan=lifespan)


class Question(BaseModel):
    question: str


@app.middleware("http")
async def stamp(request: Request, call_next):
    response = await call_next(request)
    response.headers["x-corpus"] = "fastapi"
    return response


@app.get("/greeting")
async def greeting() -> dict[str, str]:
    return {"greeting": app.state.greeting}


@app.post("/ask")
async def ask(question: Question) -> dict[str, str]:
    values = await get_client().runs.wait(
        None, "agent", input={"messages": [{"role": "user", "content": question.question}]}
    )
    return {"answer": values["messages"][-1]["content"]}


@app.get("/ticks")
async def ticks() -> StreamingResponse:
    async def events() -> AsyncIterator[str]:
        for number in range(3):
            yield f"event: tick\ndata: {number}\n\n"
            await asyncio.sleep(0.05)

    return StreamingResponse(events(), media_type="text/event-stream")
