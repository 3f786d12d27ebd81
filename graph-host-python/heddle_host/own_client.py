"""Makes ``get_client()`` of langgraph_sdk without a URL call the server that started this process.

Clients of httpx, and so those of the SDK, name the run whose code sends a request to that server, so that it can reject
a wait that would never end.

The client's transport within LangGraph's own server needs that server's Python code. Ours sends the requests over
HTTP, with a key that only processes of the server have. Both are patched when the project imports them, not before:
their import takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .work import current_work

if TYPE_CHECKING:
    import httpx

#: Modules of the SDK whose ``get_client`` looks up ``get_asgi_transport``, in its newer and older versions, and that of
#: httpx with the base of its clients.
_MODULES = ("langgraph_sdk._async.client", "langgraph_sdk.client", "httpx._client")
_CALLING_RUN = "x-heddle-calling-run"
#: Variables in which the SDK looks for a key, which is often another platform's.
_KEY_VARIABLES = ("LANGGRAPH_API_KEY", "LANGSMITH_API_KEY", "LANGCHAIN_API_KEY")


def install_own_client(api: str | None) -> None:
    """``api``: JSON with ``url``, ``header`` and ``key``, as the server passes it on; None where there is none."""
    if not api:
        return
    description: dict[str, str] = json.loads(api)
    # a copy of LangGraph's own server in the environment is not started
    os.environ["__LANGGRAPH_DEFER_LOOPBACK_TRANSPORT"] = "true"

    def patch(module: ModuleType) -> None:
        if hasattr(module, "get_asgi_transport"):
            module.get_asgi_transport = lambda: lambda *_, **__: _transport(description)  # type: ignore[attr-defined]
        if hasattr(module, "BaseClient"):
            _name_calling_run(module.BaseClient)

    sys.meta_path.insert(0, _AfterImport(_MODULES, patch))


class _AfterImport(MetaPathFinder):
    """Calls a function with modules once they are loaded."""

    def __init__(self, names: Sequence[str], after: Callable[[ModuleType], None]) -> None:
        self._names = names
        self._after = after

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            self._after(module)

        spec.loader.exec_module = exec_module
        return spec


def _name_calling_run(kind: Any) -> None:
    build = kind.build_request

    def build_request(self: Any, *args: Any, **kwargs: Any) -> httpx.Request:
        request: httpx.Request = build(self, *args, **kwargs)
        _add_calling_run(request)
        return request

    kind.build_request = build_request


def _add_calling_run(request: httpx.Request) -> None:
    work = current_work.get()
    is_own = request.url.host in ("127.0.0.1", "localhost", "::1") and str(request.url.port) == os.environ.get("PORT")
    if is_own and work is not None and work.run_id is not None:
        request.headers[_CALLING_RUN] = work.run_id


def _transport(api: dict[str, str]) -> Any:
    import httpx

    base = httpx.URL(api["url"])

    class OwnTransport(httpx.AsyncBaseTransport):
        def __init__(self) -> None:
            # a client of a module may be used in the loops of several threads, but a connection in one only
            self._transports: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncHTTPTransport] = (
                WeakKeyDictionary()
            )

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            loop = asyncio.get_running_loop()
            transport = self._transports.get(loop)
            if transport is None:
                transport = self._transports[loop] = httpx.AsyncHTTPTransport(retries=5)
            path = base.raw_path.rstrip(b"/") + request.url.raw_path
            request.url = request.url.copy_with(scheme=base.scheme, host=base.host, port=base.port, raw_path=path)
            request.headers["host"] = base.netloc.decode()
            if request.headers.get("x-api-key") in {os.environ.get(name, "").strip() for name in _KEY_VARIABLES}:
                del request.headers["x-api-key"]
            request.headers[api["header"]] = api["key"]
            _add_calling_run(request)
            return await transport.handle_async_request(request)

        async def aclose(self) -> None:
            transport = self._transports.pop(asyncio.get_running_loop(), None)
            if transport is not None:
                await transport.aclose()

    return OwnTransport()
