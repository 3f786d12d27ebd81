"""Routes that need a key, one of each kind of path, behind a middleware."""

from fastapi import FastAPI, Request
from fastapi.middleware.cors import CORSMiddleware

SECRET = "of-a-custom-route"
app = FastAPI()
app.add_middleware(CORSMiddleware, allow_origins=["https://a.example"])
sub = FastAPI()


@sub.get("/secret")
async def secret() -> str:
    return SECRET


@app.get("/admin/export")
async def export() -> dict:
    return {"export": SECRET}


@app.post("/admin/users/{user_id:int}/delete")
async def delete(user_id: int) -> dict:
    return {"deleted": user_id, "by": SECRET}


@app.get("/files/{path:path}")
async def files(path: str) -> dict:
    return {"path": path, "by": SECRET}


@app.post("/mirror")
async def mirror(request: Request) -> dict:
    return {"body": (await request.body()).decode("latin-1"), "by": SECRET}


app.mount("/sub", sub)
