from langgraph_sdk import Auth

TOKENS = {"token-anna": "anna", "token-ben": "ben"}

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Auth.types.MinimalUserDict:
    token = (authorization or "").removeprefix("Bearer ")
    if token not in TOKENS:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Who are you?")
    return {"identity": TOKENS[token], "permissions": []}


@auth.on
async def own(ctx: Auth.types.AuthContext, value: dict):
    filters = {"owner": ctx.user.identity}
    value.setdefault("metadata", {}).update(filters)
    return filters


@auth.on.store()
async def own_namespace(ctx: Auth.types.AuthContext, value: dict):
    namespace = tuple(value.get("namespace") or ())
    assert namespace and namespace[0] == ctx.user.identity, "Not yours"
