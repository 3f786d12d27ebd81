"""Lists that are stored as the change since an earlier version.

A conversation grows by a few messages in each turn. Stored whole, each step would write all of it again. So a list of
4 KB or more is stored as the change since the version before: ranges of that version's items, and the new items. The
columns and the limits are those of the JavaScript host (host-kit/src/list-value.ts); the items are
serialized with msgpack, and the type of such a row is `msgpack-list`, which the official saver rejects by name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

CHANGE_TYPE = "msgpack-list"
"""Type of a row that holds a change."""
WHOLE_BYTES = 4096
"""Lists with less data are always stored whole."""

# Size of a row besides its value: header, keys and index entry.
_ROW_BYTES = 256
# Slack before a whole list is stored again.
_SLACK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Chain:
    """Place of a version in the chain of changes that leads to it."""

    start: str
    """Version of the whole list from which the changes count."""
    depth: int
    """Number of changes since."""
    cost: int
    """Bytes that the chain takes up to this version, with the overhead of rows."""


@dataclass(slots=True, eq=False)
class ListItem:
    """Item of a list, serialized. Versions of the list share the items that they have in common."""

    data: bytes
    live: tuple[Any, bytes] | None = None
    """Object that was loaded from the data and is not in use, with its shadow: the next run may take it."""


@dataclass(slots=True)
class StoredChannel:
    """A channel's value, serialized. `chain` where the database holds it as a change."""

    type: str
    data: bytes
    version: str
    chain: Chain | None = None
    items: list[ListItem] | None = None

    def list_items(self) -> list[ListItem]:
        """Splits the value, which is a list, where that is not done yet."""
        if self.items is None:
            self.items = [ListItem(data) for data in split_list(self.data) or ()]
        return self.items

    def drop_objects(self) -> None:
        for item in self.items or ():
            item.live = None


@dataclass(frozen=True, slots=True)
class Change:
    data: bytes
    link: str
    """Base, start and depth, as the columns of the row hold them."""
    chain: Chain


def is_long_list(value: StoredChannel) -> bool:
    return value.type == "msgpack" and len(value.data) >= WHOLE_BYTES and _array_header(value.data) is not None


def whole_cost(data: bytes) -> int:
    return len(data) + _ROW_BYTES


def encode_change(base: StoredChannel, after: StoredChannel) -> Change | None:
    """Returns the change from one list to another; None where the list has to be stored whole.

    A chain may take twice the list's own size and some slack. So what is stored stays proportional to what was new,
    and what is read to the list, however the list is used: appended to, cut to its last items or rewritten.
    """
    text = _encode([item.data for item in base.list_items()], [item.data for item in after.list_items()])
    chain = base.chain or Chain(base.version, 0, whole_cost(base.data))
    cost = chain.cost + len(text) + _ROW_BYTES
    if cost > 2 * len(after.data) + _SLACK_BYTES or len(text) >= len(after.data):
        return None
    reached = Chain(chain.start, chain.depth + 1, cost)
    return Change(text, f"{base.version}/{reached.start}/{reached.depth}", reached)


def _encode(base: list[bytes], items: list[bytes]) -> bytes:
    """Format: the parts as JSON, a line feed, the new items one after another.

    A part is a range of the base's items or the length of a new item.
    """
    parts: list[list[int] | int] = []
    added: list[bytes] = []
    same = 0
    for one, other in zip(items, base, strict=False):
        if one != other:
            break
        same += 1
    if same:
        parts.append([0, same])
    places = {item: at for at, item in enumerate(base)} if same < len(base) else {}
    for item in items[same:]:
        last = parts[-1] if parts else None
        if isinstance(last, list) and last[1] < len(base) and base[last[1]] == item:
            last[1] += 1
            continue
        at = places.get(item)
        if at is None:
            parts.append(len(item))
            added.append(item)
        else:
            parts.append([at, at + 1])
    return b"".join((json.dumps(parts, separators=(",", ":")).encode(), b"\n", *added))


class ListBuilder:
    """Builds a version of a list from the rows of its chain, in order."""

    def __init__(self, whole: bytes, version: str) -> None:
        """Raises ValueError when the value is not a list."""
        items = split_list(whole)
        if items is None:
            raise ValueError(f"Version {version} is not a list")
        self._items = items
        self.chain = Chain(version, 0, whole_cost(whole))

    def apply(self, change: bytes) -> None:
        head, _, added = change.partition(b"\n")
        at = 0
        parts = json.loads(head)
        items: list[bytes] = []
        if parts and parts[0] == [0, len(self._items)]:
            items = self._items
            del parts[0]
        for part in parts:
            if isinstance(part, list):
                items += self._items[part[0] : part[1]]
            else:
                items.append(added[at : at + part])
                at += part
        self._items = items
        self.chain = Chain(self.chain.start, self.chain.depth + 1, self.chain.cost + len(change) + _ROW_BYTES)

    def data(self) -> bytes:
        return join_list(self._items)


def join_list(items: list[bytes]) -> bytes:
    """Returns the msgpack array of serialized items."""
    count = len(items)
    if count < 16:
        header = bytes((0x90 | count,))
    elif count < 1 << 16:
        header = b"\xdc" + count.to_bytes(2, "big")
    else:
        header = b"\xdd" + count.to_bytes(4, "big")
    return header + b"".join(items)


def split_list(data: bytes) -> list[bytes] | None:
    """Returns the items of a msgpack array, each serialized; None for another value."""
    header = _array_header(data)
    if header is None:
        return None
    count, at = header
    items: list[bytes] = []
    for _ in range(count):
        end = _end(data, at)
        items.append(data[at:end])
        at = end
    return items if at == len(data) else None


def _array_header(data: bytes) -> tuple[int, int] | None:
    """Returns the number of items and the position of the first; None where the value is no array."""
    kind = data[0] if data else 0xC0
    if kind & 0xF0 == 0x90:
        return kind & 0x0F, 1
    if kind == 0xDC:
        return int.from_bytes(data[1:3], "big"), 3
    if kind == 0xDD:
        return int.from_bytes(data[1:5], "big"), 5
    return None


# Bytes of a value's length, and the bytes besides the content, by the first byte.
_LENGTHS = {
    0xC4: (1, 2),
    0xC5: (2, 3),
    0xC6: (4, 5),
    0xC7: (1, 3),
    0xC8: (2, 4),
    0xC9: (4, 6),
    0xD9: (1, 2),
    0xDA: (2, 3),
    0xDB: (4, 5),
}
_FIXED = {
    0xC0: 1,
    0xC2: 1,
    0xC3: 1,
    0xCA: 5,
    0xCB: 9,
    0xCC: 2,
    0xCD: 3,
    0xCE: 5,
    0xCF: 9,
    0xD0: 2,
    0xD1: 3,
    0xD2: 5,
    0xD3: 9,
    0xD4: 3,
    0xD5: 4,
    0xD6: 6,
    0xD7: 10,
    0xD8: 18,
}


def _end(data: bytes, at: int) -> int:
    """Returns the position after the msgpack value at `at`."""
    values = 1
    while values:
        values -= 1
        kind = data[at]
        length = _LENGTHS.get(kind)
        if length:
            at += length[1] + int.from_bytes(data[at + 1 : at + 1 + length[0]], "big")
        elif kind < 0x80 or kind >= 0xE0:
            at += 1
        elif kind in _FIXED:
            at += _FIXED[kind]
        elif kind < 0x90:
            values += 2 * (kind & 0x0F)
            at += 1
        elif kind < 0xA0:
            values += kind & 0x0F
            at += 1
        elif kind < 0xC0:
            at += 1 + (kind & 0x1F)
        else:
            # arrays and maps with 16 or 32 bits of length
            size = 2 if kind in (0xDC, 0xDE) else 4
            values += int.from_bytes(data[at + 1 : at + 1 + size], "big") * (2 if kind >= 0xDE else 1)
            at += 1 + size
    return at
