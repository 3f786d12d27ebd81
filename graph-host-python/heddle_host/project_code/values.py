"""JSON of the values that cross the connection."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID


def to_json(value: Any) -> bytes:
    return json.dumps(value, default=_plain, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    for method in ("model_dump", "to_dict", "dict", "tolist"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return convert()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return str(value)


def as_uuid(value: Any) -> Any:
    """Ids are UUID objects in handlers of LangGraph's own server."""
    try:
        return UUID(value) if isinstance(value, str) else value
    except ValueError:
        return value
