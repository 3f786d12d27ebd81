"""JSON text of user values: stream events, states, results of calls. No other module serializes them.

The text is that of the official Python server: pydantic models and messages by `model_dump`, dataclasses by field, sets
as lists, bytes as base64, timedeltas in seconds, unknown objects as null. It never contains what Postgres' jsonb
rejects, a null character or a lone surrogate: both become U+FFFD.

orjson writes what it can; the slower path below writes the same text for what orjson rejects (integers beyond 64 bits,
surrogates, unusual keys, deep values), and for an environment without orjson.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PurePath
from typing import Any, NamedTuple, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from langgraph.types import Send

try:
    import orjson
except ImportError:  # the project's environment decides
    orjson = None


class Fragment(NamedTuple):
    """JSON text that is part of the output as it is."""

    text: bytes


def to_json(value: Any) -> bytes:
    """Serializes a value to JSON text in UTF-8. Raises ValueError for a circular reference."""
    if orjson is None:
        return _slow_json(value)
    try:
        text = orjson.dumps(value, _fast_default, _OPTIONS)
    except Exception:
        # TypeError, or what a method of the value's class raised
        return _slow_json(value)
    return _storable(text) if _NULL in text else text


def from_json(text: bytes | str) -> Any:
    """Parses JSON text."""
    return json.loads(text) if orjson is None else orjson.loads(text)


def to_plain(value: Any) -> Any:
    """Returns the value as `to_json` writes it: dicts, lists, strings, numbers, booleans and None."""
    return from_json(to_json(value))


def error_name(error: BaseException) -> str:
    return type(error).__name__


_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS if orjson is not None else 0
_NULL = rb"\u0000"
# an escaped backslash is matched as a whole, so that the six characters \u0000 that a user wrote stay unchanged
_ESCAPE = re.compile(rb"\\(?:u0000|.)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TEXTS = (
    UUID,
    PurePath,
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)
_MISSING = object()


def _storable(text: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: "\ufffd".encode() if len(match[0]) == 6 else match[0], text)


def _fast_default(value: Any) -> Any:
    if type(value) is Fragment:
        return orjson.Fragment(value.text)  # pyright: ignore[reportOptionalMemberAccess]
    return _replacement(value)


def _replacement(value: Any) -> Any:
    """Returns what stands for an object that JSON does not know; None for an unknown one."""
    if isinstance(value, type):
        return None
    if isinstance(value, Send):
        return {"node": value.node, "args": value.arg}
    for name in ("model_dump", "dict", "_asdict"):
        method: object = getattr(value, name, None)
        if callable(method):
            return cast(Callable[[], Any], method)()
    for types, replace in _REPLACEMENTS:
        if isinstance(value, types):
            return replace(value)
    return None


def _decimal(value: Decimal) -> int | float:
    is_integer = value.is_finite() and cast(int, value.as_tuple().exponent) >= 0
    return int(value) if is_integer else float(value)


_REPLACEMENTS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (BaseException, lambda error: {"error": error_name(error), "message": str(error)}),
    ((set, frozenset, deque), list),
    ((timezone, ZoneInfo), lambda zone: zone.tzname(None)),
    (timedelta, timedelta.total_seconds),
    (Decimal, _decimal),
    (_TEXTS, str),
    (re.Pattern, lambda pattern: pattern.pattern),
    ((bytes, bytearray, memoryview), lambda data: base64.b64encode(data).decode()),
    # mappings that are not dicts, which orjson does not take
    (Mapping, dict),
)


def _slow_json(value: Any) -> bytes:
    try:
        text = json.dumps(_plain(value, []), ensure_ascii=False, separators=(",", ":"), check_circular=False)
    except RecursionError:
        raise ValueError("A value nested this deeply cannot be serialized as JSON.") from None
    return _storable(text.encode())


def _plain(value: Any, ancestors: list[int]) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, Enum):
        return _plain(value.value, ancestors)
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", str.__str__(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if id(value) in ancestors:
        raise ValueError("A value with a circular reference cannot be serialized as JSON.")
    ancestors.append(id(value))
    try:
        return _plain_object(value, ancestors)
    finally:
        ancestors.pop()


def _plain_object(value: Any, ancestors: list[int]) -> Any:
    if type(value) is Fragment:
        return json.loads(value.text)
    if isinstance(value, dict):
        fields = cast(dict[object, object], value)
        return {_key(key): _plain(field, ancestors) for key, field in fields.items()}
    if isinstance(value, list | tuple) and not hasattr(cast(object, value), "_asdict"):
        return [_plain(item, ancestors) for item in cast(list[object], value)]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type | Send):
        fields = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        own = {name: getattr(value, name, _MISSING) for name in fields}
        return {name: _plain(field, ancestors) for name, field in own.items() if field is not _MISSING}
    to_list: object = getattr(value, "tolist", None)
    if type(value).__module__ == "numpy" and callable(to_list):
        return _plain(to_list(), ancestors)
    try:
        replacement = _replacement(value)
    except Exception:
        # a method of the value's class failed, or takes arguments: the value is unknown, others are not affected
        return None
    return _plain(replacement, ancestors)


def _key(key: Any) -> str:
    if isinstance(key, Enum):
        return _key(key.value)
    if isinstance(key, str):
        return _SURROGATE.sub("\ufffd", str.__str__(key))
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, datetime | date | time):
        return key.isoformat()
    return str(key)
