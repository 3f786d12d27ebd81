"""Tokens are names of users."""

import os

from langgraph_sdk import Auth

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> dict:
    token = (authorization or "").removeprefix("Bearer ")
    if not token:
        raise Auth.exceptions.HTTPException(status_code=401, detail="No token")
    return {"identity": token, "permissions": ["all"], "team": os.environ["TEAM"]}


@auth.on(resources=["threads", "assistants", "crons"])
async def owned(ctx: Auth.types.AuthContext, value: dict) -> dict:
    if value.get("metadata") is not None:
        value["metadata"]["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.store
async def namespaced(ctx: Auth.types.AuthContext, value: dict) -> None:
    value["namespace"] = (ctx.user.identity, *(value.get("namespace") or ()))
