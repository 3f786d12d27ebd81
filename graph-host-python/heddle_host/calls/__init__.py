"""Answers the server's calls about graphs and states (`HostCalls` of the host protocol)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..serialize import to_json

if TYPE_CHECKING:
    from .call_host import CallHost


async def answer(host: CallHost, method: str, params: dict[str, Any]) -> bytes:
    """Returns the result of a call as JSON text. Raises CallError, or what the graph raised: see `wire_error`."""
    # imported by the first call: hosts that only execute runs need none of it
    from .answer_call import answer_call

    return to_json(await answer_call(host, method, params))
