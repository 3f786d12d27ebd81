"""JSON text of data that is already plain, by orjson where the project has it."""

from __future__ import annotations

import json
import re
from typing import Any

try:
    import orjson as _orjson
except ImportError:
    _orjson = None


def dumps(value: Any) -> bytes:
    """Raises TypeError for values that are not plain."""
    if _orjson:
        try:
            return _orjson.dumps(value)
        except _orjson.JSONEncodeError:
            # integers beyond 64 bits, lone surrogates
            pass
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def loads(text: bytes | str) -> Any:
    if _orjson:
        try:
            return _orjson.loads(text)
        except _orjson.JSONDecodeError:
            pass
    return json.loads(text)


# An escaped backslash is matched first, so that the six characters \\u0000 that a user wrote stay unchanged.
_ESCAPE = re.compile(rb"\\(?:u0000|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)")


def storable(text: bytes) -> bytes:
    """Makes JSON text acceptable to jsonb: the null character and lone surrogates become U+FFFD."""
    if b"\\u0000" not in text and b"\\ud" not in text and b"\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda match: b"\xef\xbf\xbd" if len(match[0]) == 6 else match[0], text)
