"""Entry. The environment says what to serve: ``HEDDLE_CODE_PROJECT`` is JSON with ``dir``, ``dependencies``, and the
paths of ``auth``, ``app``, ``embed`` and ``encryption``, where the project has them. Descriptor 3 leads to the server.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import threading
import traceback
from collections.abc import Awaitable
from typing import Any

from ..loaded_files import LoadedFiles
from ..own_client import install_own_client
from ..protocol import Connection, Header
from .app import App, Exchange
from .auth import Handlers, Rejection
from .embed import Embedder
from .encryption import Encryption
from .load import LoadError, describe_load_error, extend_path, load_export
from .values import to_json

# descriptor of the stream to the server
SERVER = 3


class Process:
    def __init__(self, project: dict[str, Any]) -> None:
        self._project = project
        self._connection: Connection | None = None
        self._auth: Handlers | None = None
        self._app: App | None = None
        self._embedder: Embedder | None = None
        self._encryption: Encryption | None = None
        self._exchanges: dict[int, Exchange] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._drained = asyncio.Event()
        self._loaded = LoadedFiles(project["dir"])

    async def run(self) -> None:
        # without its server the process has no purpose
        self._connection = await Connection.open(SERVER, self._on_frame, lambda: os._exit(0))
        key = "The project's code"
        try:
            directory = self._project["dir"]
            if path := self._project.get("auth"):
                key = f"auth.path: {path}"
                self._auth = Handlers(load_export(directory, path, "auth.path"), path)
            if path := self._project.get("encryption"):
                key = f"encryption.path: {path}"
                self._encryption = Encryption(load_export(directory, path, "encryption.path"), path)
            if path := self._project.get("app"):
                key = f"http.app: {path}"
                self._app = App(load_export(directory, path, "http.app"), path)
                await self._app.start()
            if path := self._project.get("embed"):
                key = f"store.index.embed: {path}"
                self._embedder = Embedder(directory, path)
        except LoadError as error:
            return await self._leave({"t": "failed", "message": str(error)})
        except BaseException as error:
            text = describe_load_error(error)
            return await self._leave({"t": "failed", "message": f"{key} could not be loaded: {text}"})
        self._send(
            {
                "t": "ready",
                "auth": self._auth.description if self._auth else None,
                "app": self._app.description if self._app else None,
            }
        )
        await self._drained.wait()
        if self._app is not None:
            await self._app.stop()
        await self._leave(None)

    async def _leave(self, last: Header | None) -> None:
        if last is not None:
            self._send(last)
        await asyncio.sleep(0.05)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    def _send(self, header: Header, body: bytes = b"") -> None:
        if self._connection is not None:
            self._connection.send(header, body)

    def _on_frame(self, header: Header, body: bytes) -> None:
        kind = header["t"]
        if kind == "drain":
            return self._begin(self._drain())
        ident: int = header["id"]
        if kind == "http.open":
            exchange = Exchange(ident, header["request"], body, header["more"], self._send)
            self._exchanges[ident] = exchange
            return self._begin(self._handle(ident, exchange))
        if kind == "auth.authenticate" and self._auth:
            return self._begin(self._answer(ident, self._auth.authenticate(header["request"], body)))
        if kind == "auth.decide" and self._auth:
            return self._begin(self._answer(ident, self._auth.decide(json.loads(body))))
        if kind == "files":
            return self._send({"t": "result", "id": ident}, to_json(self._loaded.all()))
        if kind == "embed" and self._embedder:
            return self._begin(self._answer(ident, self._embedder.embed(json.loads(body), header["query"])))
        if kind == "key.convert" and self._encryption:
            return self._begin(self._answer(ident, self._encryption.convert(header["operation"], body)))
        exchange = self._exchanges.get(ident)
        if exchange is None:
            return None
        if kind == "http.chunk":
            exchange.on_chunk(body, header["more"])
        elif kind == "http.ack":
            exchange.on_ack()
        elif kind == "http.gone":
            exchange.on_gone()
        elif kind == "inner.want":
            self._begin(exchange.on_inner_wants())
        elif kind == "inner.head":
            exchange.on_inner_head(header)
        elif kind == "inner.chunk":
            exchange.on_inner_chunk(body, header["more"])

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _handle(self, ident: int, exchange: Exchange) -> None:
        assert self._app is not None
        try:
            await self._app.handle(exchange)
        finally:
            self._exchanges.pop(ident, None)

    async def _answer(self, ident: int, work: Awaitable[Any]) -> None:
        try:
            self._send({"t": "result", "id": ident}, to_json(await work))
        except Rejection as rejection:
            error = {"status": rejection.status, "message": rejection.detail, "headers": rejection.headers}
            self._send({"t": "result", "id": ident, "error": error})
        except Exception as error:
            traceback.print_exc()
            described = {"status": None, "message": f"{type(error).__name__}: {error}", "headers": {}}
            self._send({"t": "result", "id": ident, "error": described})

    async def _drain(self) -> None:
        while self._exchanges:
            await asyncio.sleep(0.05)
        self._drained.set()


def _end_with_server() -> None:
    # also of a server that has ended already; its frames are another reader's
    poll = select.poll()
    poll.register(SERVER, 0)
    poll.poll()
    os._exit(0)


def main() -> None:
    # Ctrl-C in a terminal reaches every process of the group; the server decides when this one ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    text = os.environ.pop("HEDDLE_CODE_PROJECT", None)
    if text is None:
        sys.exit("HEDDLE_CODE_PROJECT is not set. Only a Heddle server can start this process.")
    project = json.loads(text)
    install_own_client(os.environ.pop("HEDDLE_CODE_OWN_API", None))
    threading.Thread(target=_end_with_server, name="heddle-server", daemon=True).start()
    extend_path(project["dir"], project.get("dependencies", []))
    asyncio.run(Process(project).run())


if __name__ == "__main__":
    main()
