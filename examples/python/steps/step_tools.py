"""Middleware of `create_agent` that makes each tool call a step."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from steps.steps import step, step_sync


class StepTools(AgentMiddleware):
    """A retry of the run gets the stored result of a call. In a tool, `idempotency_key()` is the key of the call.

    `names`: tools that are steps, by default all. Tools that only read can be left out.
    """

    def __init__(self, names: Collection[str] | None = None) -> None:
        super().__init__()
        self._names = names

    def _is_step(self, request: Any) -> bool:
        return self._names is None or request.tool_call["name"] in self._names

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        if not self._is_step(request):
            return await handler(request)
        return await step(_name(request), lambda _: handler(request))

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        if not self._is_step(request):
            return handler(request)
        return step_sync(_name(request), lambda _: handler(request))


def _name(request: Any) -> str:
    return f"{request.tool_call['name']} {request.tool_call['id']}"
