import dataclasses
import json
import re
from collections import deque, namedtuple
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from langchain_core.messages import AIMessage
from langgraph.types import Send
from pydantic import BaseModel

from heddle_host import serialize
from heddle_host.serialize import Fragment, to_json

Pair = namedtuple("Pair", "left right")


class Colour(Enum):
    RED = "red"


class Model(BaseModel):
    tags: set[int] = {1}


@dataclasses.dataclass
class Point:
    x: int
    _hidden: int = 2


VALUES: list[tuple[Any, Any]] = [
    (datetime(2026, 1, 2, tzinfo=timezone.utc), "2026-01-02T00:00:00+00:00"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Decimal("1.5"), 1.5),
    (Decimal("3"), 3),
    (Colour.RED, "red"),
    (Model(), {"tags": [1]}),
    (Point(1), {"x": 1}),
    (Pair(1, 2), {"left": 1, "right": 2}),
    (deque([1]), [1]),
    (b"ab", "YWI="),
    (timedelta(seconds=2), 2.0),
    (re.compile("x+"), "x+"),
    (Path("/a"), "/a"),
    (float("nan"), None),
    (ValueError("boo"), {"error": "ValueError", "message": "boo"}),
    (Send("node", {"a": 1}), {"node": "node", "args": {"a": 1}}),
    (object(), None),
    ({1: 2, Colour.RED: 3}, {"1": 2, "red": 3}),
    (Fragment(b'{"as":"it is"}'), {"as": "it is"}),
]


@pytest.fixture(params=["orjson", "without orjson"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param != "orjson":
        monkeypatch.setattr(serialize, "orjson", None)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("value", "expected"), VALUES, ids=[type(value).__name__ for value, _ in VALUES])
def test_values_of_python_types_have_the_official_servers_form(value: Any, expected: Any) -> None:
    assert json.loads(to_json({"nested": [value]})) == {"nested": [expected]}


@pytest.mark.usefixtures("library")
def test_messages_are_flattened() -> None:
    message = json.loads(to_json([AIMessage("hi", id="1")]))[0]
    assert (message["type"], message["content"], message["id"], message["name"]) == ("ai", "hi", "1", None)


@pytest.mark.usefixtures("library")
def test_text_that_postgres_rejects_is_replaced_and_the_users_escapes_are_kept() -> None:
    assert json.loads(to_json({"a\0": "b\0 \\u0000 \ud800"})) == {"a\ufffd": "b\ufffd \\u0000 \ufffd"}


@pytest.mark.usefixtures("library")
def test_integers_of_any_size_and_unusual_keys_are_kept() -> None:
    assert json.loads(to_json({(1, 2): 2**70})) == {"(1, 2)": 2**70}


@pytest.mark.usefixtures("library")
def test_a_circular_reference_is_an_error() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="circular"):
        to_json(circle)
