"""Calls the handlers of a ``langgraph_sdk.Auth`` as LangGraph's own server does."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl

from .load import LoadError
from .values import as_uuid

_IDS = ("thread_id", "assistant_id", "run_id", "cron_id")
_NAMESPACES = ("namespace", "namespace_prefix", "prefix", "suffix")


class Rejection(Exception):
    """What a handler answered instead of a user or a filter."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})


class User(Mapping[str, Any]):
    """The authenticated user, with its fields as attributes and as keys."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    @property
    def identity(self) -> str:
        return self._fields["identity"]

    @property
    def display_name(self) -> str:
        return self._fields.get("display_name", self.identity)

    @property
    def is_authenticated(self) -> bool:
        return self._fields.get("is_authenticated", True)

    @property
    def permissions(self) -> list[str]:
        return self._fields.get("permissions", [])

    def dict(self) -> dict[str, Any]:
        return dict(self._fields)

    model_dump = to_dict = dict

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


class Handlers:
    """The handlers of one ``Auth`` object."""

    def __init__(self, auth: Any, path: str) -> None:
        self._authenticate: Callable[..., Any] | None = getattr(auth, "_authenticate_handler", None)
        self._handlers: dict[tuple[str, str], list[Callable[..., Any]]] = getattr(auth, "_handlers", {})
        self._global: list[Callable[..., Any]] = getattr(auth, "_global_handlers", [])
        if not hasattr(auth, "_authenticate_handler"):
            raise LoadError(f"auth.path: {path} is not an instance of langgraph_sdk.Auth.")
        from langgraph_sdk import Auth

        self._context = Auth.types.AuthContext

    @property
    def description(self) -> dict[str, Any]:
        """What the server has to know: which events have a handler."""
        names = {_event_name(resource, action) for resource, action in self._handlers}
        if self._global:
            names.add("*")
        return {"authenticates": self._authenticate is not None, "events": sorted(names)}

    async def authenticate(self, request: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Returns the user of a request."""
        assert self._authenticate is not None
        wanted = inspect.signature(self._authenticate).parameters
        try:
            found = await _call(self._authenticate, **_arguments(wanted, request, body))
        except Exception as error:
            raise _rejection_of(error) from error
        return _user_fields(found)

    async def decide(self, question: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer of the closest handler, and the value as it has left it."""
        resource, action = question["resource"], question["action"]
        value = _typed(question["value"])
        handler = self._find(resource, action)
        if handler is None:
            return {"result": None, "value": value}
        fields: dict[str, Any] = dict(question["user"])
        context = self._context(
            user=cast(Any, User(fields)), permissions=question["permissions"], resource=resource, action=action
        )
        try:
            result = await _call(handler, ctx=context, value=value)
        except AssertionError as error:
            raise Rejection(403, str(error)) from error
        except Exception as error:
            raise _rejection_of(error) from error
        return {"result": result, "value": value}

    def _find(self, resource: str, action: str) -> Callable[..., Any] | None:
        for key in ((resource, action), (resource, "*"), ("*", action), ("*", "*")):
            if self._handlers.get(key):
                return self._handlers[key][-1]
        return self._global[-1] if self._global else None


def _event_name(resource: str, action: str) -> str:
    if resource == "*" and action == "*":
        return "*"
    return resource if action == "*" else f"{resource}:{action}"


async def _call(function: Callable[..., Any], **arguments: Any) -> Any:
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004
        return await function(**arguments)
    result = await asyncio.to_thread(function, **arguments)
    return await result if isinstance(result, Awaitable) else result


def _typed(value: dict[str, Any]) -> dict[str, Any]:
    typed = dict(value)
    for name in _IDS:
        if name in typed:
            typed[name] = as_uuid(typed[name])
    for name in _NAMESPACES:
        if isinstance(typed.get(name), list):
            typed[name] = tuple(typed[name])
    return typed


def _arguments(wanted: Mapping[str, Any], request: dict[str, Any], body: bytes) -> dict[str, Any]:
    headers = {name.encode("latin-1"): value.encode("latin-1") for name, value in request["headers"]}
    authorization = headers.get(b"authorization")
    known: dict[str, Callable[[], Any]] = {
        "request": lambda: _starlette_request(request, body),
        "body": lambda: _parsed(body),
        "path": lambda: request["path"],
        "method": lambda: request["method"],
        "path_params": lambda: request.get("path_params") or {},
        "query_params": lambda: dict(parse_qsl(request.get("query", ""), keep_blank_values=True)),
        "headers": lambda: headers,
        "authorization": lambda: None if authorization is None else authorization.decode("latin-1"),
        "scope": lambda: http_scope(request),
    }
    return {name: make() for name, make in known.items() if name in wanted}


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


def _starlette_request(request: dict[str, Any], body: bytes) -> Any:
    try:
        from starlette.requests import Request  # pyright: ignore
    except ImportError:
        raise Rejection(
            500, 'The auth handler takes "request", which needs starlette in the project (pip install starlette).'
        ) from None

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(http_scope(request), receive)


def http_scope(request: dict[str, Any]) -> dict[str, Any]:
    """Returns the ASGI scope of a request."""
    client, server = request.get("client"), request.get("server")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request["method"],
        "scheme": request.get("scheme", "http"),
        "path": request["path"],
        "raw_path": request.get("raw_path", request["path"]).encode("latin-1", "replace"),
        "query_string": request.get("query", "").encode("latin-1", "replace"),
        "root_path": request.get("root_path", ""),
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]],
        "client": None if client is None else tuple(client),
        "server": None if server is None else tuple(server),
    }


def _user_fields(found: Any) -> dict[str, Any]:
    if isinstance(found, str):
        return {"identity": found}
    if isinstance(found, Mapping):
        return dict(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    for method in ("model_dump", "to_dict", "dict"):
        convert = getattr(found, method, None)
        if callable(convert):
            fields = convert()
            if isinstance(fields, dict) and "identity" in fields:
                return fields  # pyright: ignore[reportUnknownVariableType]
    if hasattr(found, "identity"):
        names = ("identity", "display_name", "is_authenticated", "permissions", *getattr(found, "__dict__", {}))
        return {name: getattr(found, name) for name in names if not name.startswith("_") and hasattr(found, name)}
    raise RuntimeError("the project's authenticate returned neither a string nor an object with an identity")


def _rejection_of(error: Exception) -> Exception:
    """An HTTPException of the SDK or of Starlette, recognized by its status. Anything else is a bug of the project."""
    status = getattr(error, "status_code", None)
    if isinstance(error, Rejection) or not isinstance(status, int) or not 400 <= status <= 599:
        return error
    return Rejection(status, str(getattr(error, "detail", error)), getattr(error, "headers", None))
