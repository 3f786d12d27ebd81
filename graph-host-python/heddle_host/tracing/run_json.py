"""JSON text of a run for the trace platform.

Values of user code are serialized as LangSmith's client does. One that cannot be serialized does not affect the others.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ..serialize import to_json
from .trace_clock import to_iso

SentRun = dict[str, Any]

_UNSERIALIZABLE = b'{"error":"[Unserializable]"}'
# fields with values of user code
_VALUES = ("extra", "serialized", "events", "error", "inputs", "outputs")


def _library_json() -> Callable[[Any], bytes]:
    try:
        from langsmith.client import _dumps_json  # pyright: ignore[reportPrivateImportUsage, reportPrivateUsage]
    except ImportError:
        return to_json
    return _dumps_json


_dumps = _library_json()


def run_json(run: SentRun) -> bytes:
    """Serializes a run. Fields without a value are left out."""
    plain = {name: _plain(value) for name, value in run.items() if value is not None and name not in _VALUES}
    fields = [to_json(plain)[1:-1]]
    fields += [b'"%s":%s' % (name.encode(), _to_text(run[name])) for name in _VALUES if run.get(name) is not None]
    return b"{" + b",".join(fields) + b"}"


def _plain(value: Any) -> Any:
    return to_iso(value) if isinstance(value, datetime) else value


def _to_text(value: Any) -> bytes:
    for dumps in (_dumps, to_json):
        try:
            return dumps(value)
        except Exception:
            # a circular reference, a failing method of a value's class, a value that is too deep
            continue
    return _UNSERIALIZABLE
