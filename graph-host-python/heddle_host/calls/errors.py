"""Errors of calls, as the server receives them."""

from __future__ import annotations

from ..frames import WireError
from ..serialize import error_name


class CallError(Exception):
    """A failed call whose caller should receive this HTTP status."""

    def __init__(self, status: int, name: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.name = name


def wire_error(error: BaseException) -> WireError:
    if isinstance(error, CallError):
        return {"status": error.status, "name": error.name, "message": str(error)}
    name = error_name(error)
    status = {"DatabaseAwayError": 503, "HeadMovedError": 409}.get(name, 500)
    return {"status": status, "name": name, "message": str(error)}
