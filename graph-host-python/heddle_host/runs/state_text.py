"""The head of a thread as a run's end stores it: long lists item by item, where only new items are sent.

The same as graph-host/src/runs/state-text.ts; functions/values.sql stores it. Items are kept where they are the ones
that the thread's values show since the last run of this process. The database rejects a state that keeps items of other
values ("stale_values"), and then gets all of them.
"""

from __future__ import annotations

import re
from typing import Any, cast

from ..checkpoints.channel_lists import ShownLists
from ..checkpoints.list_changes import ListItem
from ..checkpoints.saver import HeddleSaver
from ..serialize import to_json

# Lists of this many items are stored item by item.
_LONG_LIST_ITEMS = 64
# Names that are the same in Postgres, and short enough for an index.
_SPLIT_NAME = re.compile(r"[^\0\ud800-\udfff\ufffd]{1,200}")


class HeadText:
    """`whole` writes every item; `text` only those that the thread's values do not show yet."""

    def __init__(self, head: dict[str, Any], saver: HeddleSaver, thread_id: str) -> None:
        self._head = head
        self._lists: dict[str, tuple[int, list[Any]]] = {}
        values = head.get("values")
        shown = saver.shown_lists(thread_id)
        self._base = shown.of if shown else None
        items: dict[str, list[ListItem]] = {}
        if isinstance(values, dict):
            for channel, value in cast(dict[object, object], values).items():
                if not isinstance(channel, str) or not isinstance(value, list) or not _SPLIT_NAME.fullmatch(channel):
                    continue
                if len(cast(list[Any], value)) < _LONG_LIST_ITEMS:
                    continue
                own = saver.items_shown(value)
                if own:
                    items[channel] = own
                keep = _same(own or [], shown.lists.get(channel, []) if shown else [])
                self._lists[channel] = (keep, cast(list[Any], value))
        of = head.get("of")
        self.shown = ShownLists(of, items) if isinstance(of, str) and items else None
        """What the thread's values show once this state is stored."""

    def text(self) -> bytes:
        return self._write(kept=True)

    def whole(self) -> bytes:
        return self._write(kept=False)

    def _write(self, kept: bool) -> bytes:
        if not self._lists:
            return to_json(self._head)
        lists: dict[str, Any] = {}
        for channel, (same, value) in self._lists.items():
            keep = same if kept else 0
            lists[channel] = {"keep": keep, "items": value[keep:]}
        values = {channel: value for channel, value in self._head["values"].items() if channel not in lists}
        base = {"base": self._base} if kept and self._base else {}
        # the server recognizes such a state by its first field
        return to_json({"lists": lists, **base, **self._head, "values": values})


def _same(items: list[ListItem], shown: list[ListItem]) -> int:
    same = 0
    for item, other in zip(items, shown, strict=False):
        if item is not other and item.data != other.data:
            break
        same += 1
    return same
