from typing import Any

import pytest
from fastapi import APIRouter, FastAPI, WebSocket
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Host, Mount, Route

from heddle_host.project_code.app import App, Exchange


def test_names_the_websockets_that_are_not_served(capsys: pytest.CaptureFixture[str]) -> None:
    app = FastAPI()

    @app.get("/plain")
    async def plain() -> str:
        return "plain"

    App(app, "./app.py:app")
    assert capsys.readouterr().err == ""

    @app.websocket("/chat")
    async def chat(socket: WebSocket) -> None:
        await socket.accept()

    App(app, "./app.py:app")
    assert "http.app: /chat of ./app.py:app cannot be reached" in capsys.readouterr().err


def _app(executed: list[str]) -> FastAPI:
    app = FastAPI()

    @app.get("/one/{name}")
    async def one(name: str) -> str:
        executed.append(f"one {name}")
        return "one"

    @app.get("/exact")
    async def exact() -> str:
        executed.append("exact")
        return "exact"

    @app.get("/slashed/")
    async def slashed() -> str:
        executed.append("slashed")
        return "slashed"

    part = APIRouter(prefix="/part")
    part.add_api_route("/two", exact)
    app.include_router(part)
    app.mount("/mounted", Starlette(routes=[Route("/{rest:path}", lambda _: PlainTextResponse(executed.append("m")))]))
    return app


async def _answer(app: App, path: str, method: str = "GET", **more: Any) -> list[str]:
    """Sends a request, of which the server answers what is returned to it; returns the kinds of the frames."""
    kinds: list[str] = []
    request = {
        "method": method,
        "path": path,
        "raw_path": path,
        "query": "",
        "headers": [["host", "a.example"]],
        "scheme": "http",
        "root_path": "",
        "client": None,
        "server": ["a.example", 80],
        **more,
    }

    def send(header: dict[str, Any], _: bytes) -> None:
        kinds.append(header["t"])
        if header["t"] == "inner.open":
            exchange.on_inner_head({"status": 404, "headers": []})
            exchange.on_inner_chunk(b"", False)
        elif header["t"] == "http.head":
            kinds[-1] = f"http.head {header['status']}"

    exchange = Exchange(1, request, b"", False, send)
    await app.handle(exchange)
    return kinds


_PATHS = ("/one/x", "/one/x\n", "/exact", "/exact\n", "/exact/", "/slashed", "/slashed/", "/part/two", "/mounted/a")


@pytest.mark.parametrize("path", [*_PATHS, "/", "/none"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_no_route_sees_a_request_without_the_caller_that_it_requires(path: str, method: str) -> None:
    executed: list[str] = []
    app = App(_app(executed), "./app.py:app")
    frames = await _answer(app, path, method, guarded=True)
    assert frames[0] == "inner.open" and frames.count("http.head 404") == 1
    assert executed == []


async def test_a_caller_reaches_the_routes() -> None:
    executed: list[str] = []
    app = App(_app(executed), "./app.py:app")
    user = {"identity": "anna", "permissions": []}
    for path in ("/one/x", "/exact", "/part/two"):
        assert (await _answer(app, path, guarded=True, user=user))[0] == "http.head 200"
    assert executed == ["one x", "exact", "exact"]
    # without authentication, the app decides
    assert (await _answer(app, "/exact"))[0] == "http.head 200"


async def test_other_methods_of_a_path_are_the_servers_where_it_has_a_route() -> None:
    app = App(_app([]), "./app.py:app")
    assert (await _answer(app, "/exact", "POST", own=True))[0] == "inner.open"
    assert (await _answer(app, "/exact", "POST"))[0] == "http.head 405"
    assert (await _answer(app, "/exact", "GET", own=True))[0] == "http.head 200"
    assert (await _answer(app, "/slashed", "GET", own=True))[0] == "inner.open"


def test_describes_the_paths_that_routes_may_take() -> None:
    app = App(_app([]), "./app.py:app").description["paths"]
    assert {"/exact", "/slashed"} <= set(app["exact"])
    assert {"/one", "/mounted"} <= set(app["below"])
    root = Starlette(routes=[Route("/", lambda _: PlainTextResponse("root"))])
    assert App(root, "./app.py:app").description["paths"] == {"exact": [""], "below": []}

    class Loose(Route):
        def matches(self, scope: Any) -> Any:
            return super().matches({**scope, "path": scope["path"].lower()})

    endpoint = root.routes[0].endpoint  # type: ignore[attr-defined]
    for route in (Host("a.example", root), Mount("/", root), Loose("/x", endpoint), Route("/{a:path}", endpoint)):
        assert App(Starlette(routes=[route]), "./app.py:app").description["paths"]["below"] == [""]
