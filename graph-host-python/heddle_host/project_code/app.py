"""Runs the project's ASGI app (``http.app``) behind the server.

The server forwards requests that the app's routes may take and, if the app has middleware, all others. Requests that no
route takes are returned to the server, so that the middleware wraps the server's routes too. Where the app's routes
require authentication, requests without a caller are returned before its router sees them: which route takes a request
is decided in one place, after it is known whether the request may have one.

Bodies are pulled in both directions: a slow reader stops the writer.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

from ..protocol import Header
from .auth import User, http_scope
from .load import LoadError

Message = MutableMapping[str, Any]
Send = Callable[[Header, bytes], None]

_WEBSOCKET_ROUTES = ("WebSocketRoute", "APIWebSocketRoute")
#: Chunks of a response that may be under way to the server.
_WINDOW = 16


class App:
    def __init__(self, app: Any, path: str) -> None:
        if not callable(cast(object, app)):
            raise LoadError(f"http.app: {path} is not an ASGI app.")
        self._app: Any = app
        self._state: dict[str, Any] = {}
        self._lifespan: asyncio.Task[None] | None = None
        self._lifespan_queue: asyncio.Queue[Message] = asyncio.Queue()
        self._stopped = asyncio.Event()
        self._routed = hasattr(app, "router") and hasattr(app.router, "routes") and hasattr(app.router, "default")
        if self._routed:
            self._prepare_router(app)
            sockets = [route.path for route in app.router.routes if type(route).__name__ in _WEBSOCKET_ROUTES]
            if sockets:
                print(
                    f"http.app: {', '.join(sockets)} of {path} cannot be reached, because WebSockets of apps are not "
                    "served. Stream a response instead, for example as server-sent events.",
                    file=sys.stderr,
                )

    @property
    def description(self) -> dict[str, Any]:
        """See ``AppDescription`` of the server's code-frames.ts."""
        if not self._routed:
            return {"wraps": False, "paths": None}
        return {
            "wraps": bool(getattr(self._app, "user_middleware", [])),
            "paths": _describe_paths(self._app.router),
        }

    async def start(self) -> None:
        """Runs the app's startup; apps without a lifespan are ready at once."""
        started: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        async def send(message: Message) -> None:
            kind = message["type"]
            if kind == "lifespan.startup.complete" and not started.done():
                started.set_result(None)
            elif kind == "lifespan.startup.failed" and not started.done():
                started.set_result(message.get("message") or "its startup failed")
            elif kind.startswith("lifespan.shutdown"):
                self._stopped.set()

        async def run() -> None:
            scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
            try:
                await self._app(scope, self._lifespan_queue.get, send)
            except Exception:
                # the specification lets apps without a lifespan raise
                if self._routed:
                    traceback.print_exc()
                if not started.done():
                    started.set_result("its startup failed" if self._routed else None)
            finally:
                self._stopped.set()
                if not started.done():
                    started.set_result(None)

        self._lifespan_queue.put_nowait({"type": "lifespan.startup"})
        self._lifespan = asyncio.create_task(run())
        problem = await started
        if problem is not None:
            raise LoadError(f"http.app: {problem}")

    async def stop(self) -> None:
        self._lifespan_queue.put_nowait({"type": "lifespan.shutdown"})
        await self._stopped.wait()

    async def handle(self, exchange: Exchange) -> None:
        scope = http_scope(exchange.request)
        scope["state"] = dict(self._state)
        scope["heddle.exchange"] = exchange
        user = exchange.request.get("user")
        if user is not None:
            scope["user"] = User(user)
            scope["auth"] = _Credentials(user.get("permissions", []))
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            exchange.fail()
        else:
            exchange.finish()

    def _prepare_router(self, app: Any) -> None:
        own = {
            getattr(app, name, None)
            for name in ("docs_url", "redoc_url", "openapi_url", "swagger_ui_oauth2_redirect_url")
        }
        # FastAPI adds its own documentation, which would replace that of the server
        app.router.routes[:] = [
            route
            for route in app.router.routes
            if getattr(route, "include_in_schema", True) or getattr(route, "path", "") not in own
        ]
        not_found = app.router.default

        async def fall_through(scope: Any, receive: Any, send: Any) -> None:
            exchange = scope.get("heddle.exchange")
            if scope["type"] != "http" or exchange is None:
                return await not_found(scope, receive, send)
            await exchange.inner(scope, receive, send)

        app.router.default = fall_through
        _guard(app.router)


def _guard(router: Any) -> None:
    """Returns requests to the server before the router considers a route.

    Middleware may hold the router already, so its class is replaced.
    """
    kind = type(router)

    async def call(self: Any, scope: Any, receive: Any, send: Any) -> None:
        exchange: Exchange | None = scope.get("heddle.exchange") if scope["type"] == "http" else None
        if exchange is not None and (exchange.is_rejected or (exchange.is_own and not _has_route(self, scope))):
            return await exchange.inner(scope, receive, send)
        await kind.__call__(self, scope, receive, send)

    router.__class__ = type(kind.__name__, (kind,), {"__call__": call})


def _has_route(router: Any, scope: Any) -> bool:
    """Whether a route takes the request's path and method. A router answers other methods with 405."""
    return any(route.matches(scope)[0].name == "FULL" for route in router.routes)


def _describe_paths(router: Any) -> dict[str, list[str]]:
    exact: set[str] = set()
    # pages of FastAPI's `frontend()` are not among the routes
    below = {""} if any(getattr(router, "_iter_low_priority_routes", tuple)()) else set[str]()
    for route in router.routes:
        if type(route).__name__ in _WEBSOCKET_ROUTES:
            continue
        path = getattr(route, "path", None)
        if type(route).__module__.partition(".")[0] not in ("starlette", "fastapi") or not isinstance(path, str):
            # it may match as it likes
            below.add("")
            continue
        literal, parameter, _ = path.partition("{")
        # a router redirects from and to the path with a slash
        (below if parameter or hasattr(route, "routes") else exact).add(literal.rstrip("/"))
    return {"exact": sorted(exact), "below": sorted(below)}


class _Credentials:
    def __init__(self, scopes: list[str]) -> None:
        self.scopes = list(scopes)


class Exchange:
    """One request to the app, and the request that its fallback returns to the server."""

    def __init__(self, ident: int, request: dict[str, Any], body: bytes, more: bool, send: Send) -> None:
        self.request = request
        #: Whether the routes require a caller and there is none.
        self.is_rejected = bool(request.get("guarded")) and request.get("user") is None
        #: Whether the server has a route for the request.
        self.is_own = bool(request.get("own"))
        self._id = ident
        self._frame = send
        self._first: tuple[bytes, bool] | None = (body, more)
        self._more = more
        self._chunks: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._acked = asyncio.Semaphore(_WINDOW)
        self._head_sent = False
        self._done = False
        self._inner_head: asyncio.Future[Header] | None = None
        self._inner_chunks: asyncio.Queue[tuple[bytes, bool]] = asyncio.Queue()
        self._inner_receive: Callable[[], Awaitable[Message]] | None = None

    def _send(self, kind: str, body: bytes = b"", **fields: Any) -> None:
        self._frame({"t": kind, "id": self._id, **fields}, body)

    # -- the app's side

    async def receive(self) -> Message:
        if self._first is not None:
            (body, more), self._first = self._first, None
            return {"type": "http.request", "body": body, "more_body": more}
        if not self._more:
            await self._gone.wait()
            return {"type": "http.disconnect"}
        self._send("http.pull")
        chunk = asyncio.ensure_future(self._chunks.get())
        gone = asyncio.ensure_future(self._gone.wait())
        done, pending = await asyncio.wait((chunk, gone), return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        if chunk not in done:
            return {"type": "http.disconnect"}
        body, self._more = chunk.result()
        return {"type": "http.request", "body": body, "more_body": self._more}

    async def send(self, message: Message) -> None:
        if self._gone.is_set() or self._done:
            return
        if message["type"] == "http.response.start":
            headers = [[_text(name), _text(value)] for name, value in message.get("headers", [])]
            self._head_sent = True
            self._send("http.head", status=message["status"], headers=headers)
        elif message["type"] == "http.response.body":
            more = bool(message.get("more_body", False))
            body = bytes(message.get("body", b""))
            if more:
                await self._acked.acquire()
            self._done = not more
            self._send("http.part", body, more=more)

    def fail(self) -> None:
        if self._done:
            return
        if not self._head_sent:
            self._send("http.head", status=500, headers=[["content-type", "text/plain; charset=utf-8"]])
            self._send("http.part", b"Internal Server Error", more=False)
        else:
            self._send("http.abort")
        self._done = True

    def finish(self) -> None:
        """The app has returned: without a complete response it has failed."""
        if not self._done and not self._gone.is_set():
            self.fail()

    # -- the server's side

    def on_chunk(self, body: bytes, more: bool) -> None:
        self._chunks.put_nowait((body, more))

    def on_ack(self) -> None:
        self._acked.release()

    def on_gone(self) -> None:
        self._gone.set()

    # -- a request that no route of the app matches

    async def inner(
        self, scope: Any, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
    ) -> None:
        """Returns the request to the server, as middleware has left it, and the server's response to the app."""
        self._inner_head = asyncio.get_running_loop().create_future()
        self._inner_receive = receive
        headers = [[_text(name), _text(value)] for name, value in scope["headers"]]
        # a body that middleware has not read stays where it is
        untouched = self._first is not None
        self._send(
            "inner.open",
            method=scope["method"],
            path=scope["path"],
            query=_text(scope["query_string"]),
            headers=headers,
            untouched=untouched,
        )
        head = await self._inner_head
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in head["headers"]]
        await send({"type": "http.response.start", "status": head["status"], "headers": raw})
        while True:
            self._send("inner.pull")
            body, more = await self._inner_chunks.get()
            await send({"type": "http.response.body", "body": body, "more_body": more})
            if not more:
                return

    async def on_inner_wants(self) -> None:
        """The server reads the body of the returned request."""
        assert self._inner_receive is not None
        message = await self._inner_receive()
        body = bytes(message.get("body", b""))
        self._send("inner.part", body, more=bool(message.get("more_body", False)))

    def on_inner_head(self, header: Header) -> None:
        if self._inner_head is not None and not self._inner_head.done():
            self._inner_head.set_result(header)

    def on_inner_chunk(self, body: bytes, more: bool) -> None:
        self._inner_chunks.put_nowait((body, more))


def _text(value: bytes | str) -> str:
    return value.decode("latin-1") if isinstance(value, (bytes, bytearray)) else value
