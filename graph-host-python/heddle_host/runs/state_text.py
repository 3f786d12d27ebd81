"""The head of a thread as a run's end stores it: long lists item by item, where only new items are sent.

The same as graph-host/src/runs/state-text.ts; functions/values.sql stores it. Items are kept where they are the ones
that the thread's values show since the last run of this process. The database rejects a state that keeps items of other
values ("stale_values"), and then gets all of them.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from ..checkpoints.channel_lists import ShownLists
from ..checkpoints.list_changes import ListItem
from ..checkpoints.saver import HeddleSaver
from ..serialize import Fragment, to_json

# Lists of this many items, or of more JSON text, are stored item by item.
_LONG_LIST_ITEMS = 64
_LONG_LIST_BYTES = 16 * 1024
# Names that are the same in Postgres, and short enough for an index.
_SPLIT_NAME = re.compile(r"[^\0\ud800-\udfff\ufffd]{1,200}")


class _LongList(NamedTuple):
    keep: int
    items: list[Any]
    # all items, serialized where their size had to be known
    whole: Any


class HeadText:
    """`text` writes the items that the thread's values do not show yet, then `whole` writes all of them."""

    def __init__(self, head: dict[str, Any], saver: HeddleSaver, thread_id: str) -> None:
        self._head = head
        self._saver = saver
        self._before = saver.shown_lists(thread_id)
        self._lists: dict[str, _LongList] = {}
        self._others: dict[object, Any] = {}
        self.shown: ShownLists | None = None
        """What the thread's values show once the state that `text` has returned is stored."""

    def text(self) -> bytes:
        values = self._head.get("values")
        if not isinstance(values, dict):
            return to_json(self._head)
        shown: dict[str, list[ListItem]] = {}
        for channel, value in cast(dict[object, object], values).items():
            if isinstance(channel, str) and isinstance(value, list) and _SPLIT_NAME.fullmatch(channel):
                own = self._saver.items_shown(value) or []
                self._add(channel, cast(list[Any], value), own)
                if own and channel in self._lists:
                    shown[channel] = own
            else:
                self._others[channel] = value
        of = self._head.get("of")
        if isinstance(of, str) and shown:
            self.shown = ShownLists(of, shown)
        return self._write(kept=True)

    def whole(self) -> bytes:
        return self._write(kept=False)

    def _add(self, channel: str, value: list[Any], own: list[ListItem]) -> None:
        keep = _same(own, self._before.lists.get(channel, []) if self._before else [])
        whole: Any = value
        if keep == 0 and len(value) < _LONG_LIST_ITEMS:
            text = to_json(value)
            whole = Fragment(text)
            if len(text) <= _LONG_LIST_BYTES:
                self._others[channel] = whole
                return
        self._lists[channel] = _LongList(keep, value, whole)

    def _write(self, kept: bool) -> bytes:
        if not self._lists:
            return to_json({**self._head, "values": self._others})
        lists: dict[str, Any] = {}
        for channel, (keep, items, whole) in self._lists.items():
            if kept and keep:
                lists[channel] = {"keep": keep, "items": items[keep:]}
            else:
                lists[channel] = {"keep": 0, "items": whole}
        base = {"base": self._before.of} if kept and self._before else {}
        # the server recognizes such a state by its first field
        return to_json({"lists": lists, **base, **self._head, "values": self._others})


def _same(items: list[ListItem], shown: list[ListItem]) -> int:
    same = 0
    for item, other in zip(items, shown, strict=False):
        if item is not other and item.data != other.data:
            break
        same += 1
    return same
