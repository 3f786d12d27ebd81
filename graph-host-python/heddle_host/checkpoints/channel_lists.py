"""Long lists in the channels of one saver's checkpoints: loads their values, and stores them as changes.

In a conversation almost all messages of a step are those of the step before. So the saver of a run remembers which
object belongs to which stored item, and serializes only objects that are new or have changed. The objects that a run
has loaded are handed to the thread's next run in this process.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any, NamedTuple

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from .list_changes import CHANGE_TYPE, ListItem, StoredChannel, encode_change, is_long_list, join_list
from .rows import BlobRow

Check = Callable[[tuple[str, bytes]], tuple[str, bytes]]


class _Key(NamedTuple):
    thread_id: str
    ns: str
    channel: str


class _Known(NamedTuple):
    object: Any
    shadow: bytes
    item: ListItem
    loaded: bool
    """Whether this host has made the object. Others may belong to the user's code, also after the run."""


class ShownLists(NamedTuple):
    """The lists that a thread's values show, and the checkpoint whose values they are."""

    of: str
    lists: dict[str, list[ListItem]]


class ChannelLists:
    def __init__(self, serde: SerializerProtocol, tracks: bool, stores_whole: Callable[[], bool]) -> None:
        """`tracks`: objects are recognized, which pays for a run: it puts lists that it has loaded.

        `stores_whole`: whether lists are not stored as changes.
        """
        self._stores_whole = stores_whole
        self._serde = serde
        self._tracks = tracks
        # the list that was read first or put last, on which the next change is based
        self._newest: dict[_Key, StoredChannel] = {}
        # by the object's id
        self._known: dict[_Key, dict[int, _Known]] = {}
        # by the id of the list
        self._shown: dict[int, tuple[list[Any], list[ListItem]]] = {}

    def load(self, thread_id: str, ns: str, channel: str, stored: StoredChannel) -> Any:
        if channel.startswith("__") or not is_long_list(stored):
            return self._serde.loads_typed((stored.type, stored.data))
        key = _Key(thread_id, ns, channel)
        self._newest.setdefault(key, stored)
        if not self._tracks:
            return self._serde.loads_typed((stored.type, stored.data))
        items = stored.list_items()
        if not any(item.live for item in items):
            values: list[Any] = self._serde.loads_typed((stored.type, stored.data))
            shadows = [shadow_of(value) for value in values]
        else:
            values, shadows = [], []
            for item in items:
                value, shadow = _take(item) or self._load_item(item)
                values.append(value)
                shadows.append(shadow)
        self._known[key] = {
            id(value): _Known(value, shadow, item, True)
            for value, shadow, item in zip(values, shadows, items, strict=True)
            if shadow is not None
        }
        return values

    def show(self, thread_id: str, ns: str, channel: str, stored: StoredChannel) -> Any:
        """Returns the value for a caller that only reads it, before `release`."""
        known = {id(known.item): known for known in self._known.get(_Key(thread_id, ns, channel), {}).values()}
        values: list[Any] = []
        for item in (stored.items or ()) if known else ():
            found = known.get(id(item))
            if not found or shadow_of(found.object) != found.shadow:
                break
            values.append(found.object)
        if values and stored.items and len(values) == len(stored.items):
            self._shown[id(values)] = (values, stored.items)
            return values
        return self._serde.loads_typed((stored.type, stored.data))

    def items_shown(self, value: Any) -> list[ListItem] | None:
        """Returns the items of a list that `show` has returned."""
        values, items = self._shown.get(id(value), (None, None))
        return items if values is value and values is not None and items and len(values) == len(items) else None

    def store(self, row: BlobRow, value: Any, check: Check) -> None:
        """Serializes a value into its row: a long list as the change since the last one that was loaded or put.

        `check` raises when the value is too large.
        """
        key = _Key(row.thread_id, row.ns, row.channel)
        items = None if row.channel.startswith("__") else self._items(key, value)
        typed = ("msgpack", join_list([item.data for item in items])) if items else self._serde.dumps_typed(value)
        row.type, row.blob = check(typed)
        row.value = stored = StoredChannel(row.type, row.blob, row.version, items=items)
        if not isinstance(value, list) or row.channel.startswith("__"):
            return
        base = self._newest.pop(key, None)
        if not is_long_list(stored):
            return
        self._newest[key] = stored
        if base and base.version == row.version:
            # put again: the row that is stored stays
            stored.chain = base.chain
        elif base and not self._stores_whole():
            change = encode_change(base, stored)
            if change:
                stored.chain = change.chain
                row.type, row.blob, row.link = CHANGE_TYPE, change.data, change.link

    def release(self, thread_id: str, ns: str) -> None:
        """Hands the objects of a namespace's lists that were loaded to the next run that loads them."""
        self._shown.clear()
        for key in [key for key in self._known if key[:2] == (thread_id, ns)]:
            for known in self._known.pop(key).values():
                if known.loaded:
                    known.item.live = (known.object, known.shadow)

    def _items(self, key: _Key, value: Any) -> list[ListItem] | None:
        """Returns the items of a list of messages. Those of unchanged objects are the ones they were loaded from."""
        if not self._tracks or not isinstance(value, list) or not value or not isinstance(value[-1], BaseMessage):
            return None
        known = self._known.get(key)
        items: list[ListItem] = []
        found: dict[int, _Known] = {}
        for one in value:
            shadow = shadow_of(one)
            same = known.get(id(one)) if known else None
            if same is None or shadow is None or same.object is not one or same.shadow != shadow:
                # without the array's header
                item = ListItem(self._serde.dumps_typed([one])[1][1:])
                same = _Known(one, shadow, item, False) if shadow is not None else None
                items.append(item)
            else:
                items.append(same.item)
            if same:
                found[id(one)] = same
        self._known[key] = found
        return items

    def _load_item(self, item: ListItem) -> tuple[Any, bytes | None]:
        value = self._serde.loads_typed(("msgpack", b"\x91" + item.data))[0]
        return value, shadow_of(value)


def _take(item: ListItem) -> tuple[Any, bytes | None] | None:
    """Takes the object of an item, for one caller, unless it has changed since it was loaded."""
    live, item.live = item.live, None
    return live if live and shadow_of(live[0]) == live[1] else None


_plain_messages: dict[type, bool] = {}


def shadow_of(value: Any) -> bytes | None:
    """Returns bytes that are equal as long as a message serializes to the same; None where that cannot be known.

    Messages of the library serialize to their class and their fields. A class of the user's may compute more.
    """
    kind = type(value)
    plain = _plain_messages.get(kind)
    if plain is None:
        plain = issubclass(kind, BaseMessage) and kind.__module__.startswith("langchain_core.messages.")
        _plain_messages[kind] = plain
    if not plain:
        return None
    try:
        # version 2: equal values have equal bytes, whatever else refers to them
        return marshal.dumps((value.__dict__, value.__pydantic_extra__), 2)
    except ValueError:
        return None
