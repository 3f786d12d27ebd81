"""The end of a run whose graph raised."""

from __future__ import annotations

import asyncio
import traceback

from ..checkpoints.errors import DatabaseAwayError, FencedError
from ..frames import RunEndError
from ..serialize import error_name
from .active_run import Stop


def to_outcome(error: BaseException, stopped: Stop | None) -> Stop:
    # The saver's errors take precedence: an error of user code that follows from one is not the user's fault.
    if _has_cause(error, FencedError):
        return {"outcome": "fenced"}
    if stopped:
        return stopped
    if _has_cause(error, DatabaseAwayError):
        return {"outcome": "retry", "error": describe_error(error)}
    return {"outcome": "error", "error": describe_error(error)}


def describe_error(error: BaseException) -> RunEndError:
    message = str(error)
    if isinstance(error, asyncio.CancelledError) and not message:
        message = "The graph's code was cancelled"
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"error": error_name(error), "message": message, "stack": stack[-16_000:]}


def _has_cause(error: BaseException | None, kind: type[BaseException], depth: int = 0) -> bool:
    """Searches nested causes: user code may wrap errors, and task groups collect them."""
    if error is None or depth == 8:
        return False
    if isinstance(error, kind):
        return True
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    if any(_has_cause(one, kind, depth + 1) for one in inner):
        return True
    return _has_cause(error.__cause__ or error.__context__, kind, depth + 1)
