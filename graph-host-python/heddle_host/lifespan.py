"""``heddle.hosts.lifespan`` of langgraph.json: what each host opens before its first run, and closes after its last."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from .output import complain
from .project_code.load import LoadError, describe_load_error, load_export

_KEY = "heddle.hosts.lifespan"
# The server ends the process after this time.
_STOP_SECONDS = 3


class Lifespan:
    """Enters and leaves the context managers in one task, as cancel scopes need it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    async def start(self, directory: str, paths: list[str]) -> None:
        """Enters the context managers, one after another. Raises LoadError; what was opened is closed."""
        if not paths:
            return
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(directory, paths, opened))
        await opened

    async def _run(self, directory: str, paths: list[str], opened: asyncio.Future[None]) -> None:
        path = ""
        try:
            async with AsyncExitStack() as stack:
                for path in paths:
                    manager: Any = load_export(directory, path, _KEY)()
                    if not hasattr(manager, "__aenter__"):
                        raise LoadError("must be a function that returns an asynchronous context manager")
                    await stack.enter_async_context(manager)
                opened.set_result(None)
                await self._stopping.wait()
        except BaseException as error:
            text = describe_load_error(error)
            if not opened.done():
                opened.set_exception(LoadError(f"{_KEY}: {path}: {text}"))
            else:
                complain(f"{_KEY}: closing failed: {text}")

    async def stop(self) -> None:
        """Closes what was opened, the last first. Takes 3 s at most."""
        if self._task is None:
            return
        self._stopping.set()
        await asyncio.wait([self._task], timeout=_STOP_SECONDS)
