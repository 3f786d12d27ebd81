"""Reads checkpoints, newest first, with their values and writes, in one statement."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..postgres import Parameter, Row
from .errors import OtherLanguageError
from .list_changes import CHANGE_TYPE, ListBuilder, StoredChannel

Fetch = Callable[[str, list[Parameter]], Awaitable[list[Row]]]

# Type of a blob that holds the change of a list, which the JavaScript host writes.
LIST_TYPE = "list"


@dataclass(slots=True)
class StoredWrite:
    type: str
    data: bytes
    task_id: str
    idx: int
    channel: str


@dataclass(slots=True)
class StoredCheckpoint:
    """A checkpoint with everything that belongs to it, still serialized."""

    thread_id: str
    ns: str
    id: str
    parent_id: str | None
    checkpoint: bytes
    metadata: bytes
    values: dict[str, StoredChannel] = field(default_factory=dict)
    """Keyed by channel; `empty` is the type of a channel without a value."""
    writes: list[StoredWrite] = field(default_factory=list)
    """Ordered by task and index."""
    parent_sends: list[StoredWrite] = field(default_factory=list)
    """Sends of the parent's tasks, for checkpoints of format below 4, which do not contain them."""


@dataclass(slots=True)
class CheckpointQuery:
    thread_id: str | None = None
    ns: str | None = None
    id: str | None = None
    before: str | None = None
    filter: dict[str, Any] | None = None
    limit: int | None = None


async def read_checkpoints(
    fetch: Fetch, query: CheckpointQuery, chains: str = "marked"
) -> tuple[list[StoredCheckpoint], str | None]:
    """Returns the checkpoints, and the newest id of the namespace regardless of the selection.

    The newest id is None across namespaces. A value shared by several checkpoints is returned once, with the numbers
    of those that use it. Of a list that is stored as changes, the rows of its chain are returned.
    """
    condition, parameters = _conditions(query)
    limit = "" if query.limit is None else f"limit {max(0, int(query.limit))}"
    one_namespace = query.thread_id is not None and query.ns is not None
    selects = query.id is not None or query.before is not None or query.filter is not None or query.limit == 0
    statement = _STATEMENT.format(condition=condition, limit=limit, chain=_CHAINS[chains])
    if one_namespace and selects:
        statement += _NEWEST_ROW
    rows = await fetch(statement, parameters)
    try:
        checkpoints = _assemble(rows)
    except _MissingVersionError:
        if chains == "linked":
            raise
        # a version of the chain was stored anew in the meantime
        return await read_checkpoints(fetch, query, "linked")
    if not one_namespace:
        return checkpoints, None
    if selects:
        return checkpoints, next((row[4] for row in rows if row[0] == 4), None)
    return checkpoints, checkpoints[0].id if checkpoints else None


_STATEMENT = """
with cp as materialized (
  select row_number() over (order by checkpoint_id desc)::int as n,
         thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
  from checkpoints {condition}
  order by checkpoint_id desc {limit}
), v as materialized (
  select cp.thread_id, cp.checkpoint_ns, e.key, e.value, string_agg(cp.n::text, ',') as users, min(cp.n) as n
  from cp cross join lateral jsonb_each_text(cp.checkpoint -> 'channel_versions') e
  group by 1, 2, 3, 4
)
select 0 as kind, n, thread_id as a, checkpoint_ns as b, checkpoint_id as c, parent_checkpoint_id as d,
       null::int as idx, checkpoint::text as text, metadata::text as metadata, null::bytea as bytes
from cp
union all
select 1, v.n, v.key, v.value, bl.type, v.users, bl.depth, null, bl.base, bl.blob
from v join checkpoint_blobs bl on bl.thread_id = v.thread_id and bl.checkpoint_ns = v.checkpoint_ns
  and bl.channel = v.key and bl.version = v.value
union all
select 5, chain.n, bl.channel, bl.version, bl.type, null, bl.depth, null, bl.base, bl.blob
from {chain}
union all
select 2, cp.n, w.task_id, w.channel, w.type, null, w.idx, null, null, w.blob
from cp join checkpoint_writes w on w.thread_id = cp.thread_id and w.checkpoint_ns = cp.checkpoint_ns
  and w.checkpoint_id = cp.checkpoint_id
union all
select 3, cp.n, w.task_id, w.channel, w.type, null, w.idx, null, null, w.blob
from cp join checkpoint_writes w on w.thread_id = cp.thread_id and w.checkpoint_ns = cp.checkpoint_ns
  and w.checkpoint_id = cp.parent_checkpoint_id and w.channel = '__pregel_tasks'
where (cp.checkpoint ->> 'v')::numeric < 4"""

# The rows on which the versions that checkpoints name are based, as in graph-host/src/checkpoints/read-statement.ts:
# all of their chain, which is one scan, or each by the name that its successor has for it.
_CHAINS = {
    "marked": """(
  select v.thread_id, v.checkpoint_ns, v.key, named.chain, max(named.depth) as depth, min(v.n) as n
  from v join checkpoint_blobs named on named.thread_id = v.thread_id and named.checkpoint_ns = v.checkpoint_ns
    and named.channel = v.key and named.version = v.value
  where named.chain is not null
  group by 1, 2, 3, 4
) chain join checkpoint_blobs bl on bl.thread_id = chain.thread_id and bl.checkpoint_ns = chain.checkpoint_ns
  and bl.channel = chain.key and (bl.version = chain.chain or bl.chain = chain.chain and bl.depth < chain.depth)""",
    "linked": """(
  with recursive link as (
    select v.thread_id, v.checkpoint_ns, v.key, b.base
    from v join checkpoint_blobs b on b.thread_id = v.thread_id and b.checkpoint_ns = v.checkpoint_ns
      and b.channel = v.key and b.version = v.value
    where b.base is not null
    union
    select l.thread_id, l.checkpoint_ns, l.key, b.base
    from link l join checkpoint_blobs b on b.thread_id = l.thread_id and b.checkpoint_ns = l.checkpoint_ns
      and b.channel = l.key and b.version = l.base
    where b.base is not null
  )
  select link.*,
         (select min(v.n) from v where v.thread_id = link.thread_id and v.checkpoint_ns = link.checkpoint_ns) as n
  from link
) chain join checkpoint_blobs bl on bl.thread_id = chain.thread_id and bl.checkpoint_ns = chain.checkpoint_ns
  and bl.channel = chain.key and bl.version = chain.base""",
}

_NEWEST_ROW = """
union all
(select 4, null, null, null, checkpoint_id, null, null, null, null, null from checkpoints
 where thread_id = $1 and checkpoint_ns = $2 order by checkpoint_id desc limit 1)"""


def _conditions(query: CheckpointQuery) -> tuple[str, list[Parameter]]:
    wheres: list[str] = []
    parameters: list[Parameter] = []
    for sql, value in (
        ("thread_id = $", query.thread_id),
        ("checkpoint_ns = $", query.ns),
        ("checkpoint_id = $", query.id),
        ("checkpoint_id < $", query.before),
    ):
        if value is not None:
            parameters.append(value)
            wheres.append(f"{sql}{len(parameters)}")
    if query.filter:
        parameters.append(json.dumps(query.filter))
        wheres.append(f"metadata @> ${len(parameters)}::text::jsonb")
    return (f"where {' and '.join(wheres)}" if wheres else ""), parameters


class _MissingVersionError(Exception):
    """A row on which a change is based was not found."""

    def __init__(self, version: str) -> None:
        super().__init__(f"The stored changes of a list are incomplete: version {version} is missing")


def _assemble(rows: list[Row]) -> list[StoredCheckpoint]:
    found: dict[int, StoredCheckpoint] = {}
    for kind, n, a, b, c, d, _, text, metadata, _ in rows:
        if kind == 0:
            found[n] = StoredCheckpoint(a, b, c, d, text.encode(), metadata.encode())
    lists = _Lists()
    for kind, n, channel, version, type_, _, depth, _, base, data in rows:
        if kind == 5 or (kind == 1 and depth is not None):
            lists.add(found[n], channel, version, _VersionRow(type_, data or b"", base))
    for kind, n, a, b, c, d, idx, _, _, data in rows:
        if kind == 1:
            if c == LIST_TYPE:
                raise other_language(found[n].thread_id)
            value = lists.get(found[n], a, b) if c == CHANGE_TYPE else StoredChannel(c, data or b"", b)
            for user in d.split(","):
                found[int(user)].values[a] = value
        elif kind in (2, 3):
            stored = found[n]
            (stored.writes if kind == 2 else stored.parent_sends).append(StoredWrite(c, data or b"", a, idx, b))
    checkpoints = [found[n] for n in sorted(found)]
    for stored in checkpoints:
        stored.writes.sort(key=by_task_and_index)
        stored.parent_sends.sort(key=by_task_and_index)
    return checkpoints


class _VersionRow(NamedTuple):
    type: str
    data: bytes
    base: str | None


class _Lists:
    """Lists of the checkpoints that were read, built from the rows of their chains."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, str], dict[str, _VersionRow]] = {}

    def add(self, stored: StoredCheckpoint, channel: str, version: str, row: _VersionRow) -> None:
        self._rows.setdefault((stored.thread_id, stored.ns, channel), {})[version] = row

    def get(self, stored: StoredCheckpoint, channel: str, version: str) -> StoredChannel:
        rows = self._rows[stored.thread_id, stored.ns, channel]
        changes: list[bytes] = []
        at = version
        while True:
            row = rows.get(at)
            if row is None:
                raise _MissingVersionError(at)
            if row.type != CHANGE_TYPE:
                break
            changes.append(row.data)
            at = row.base or ""
        builder = ListBuilder(row.data, at)
        for change in reversed(changes):
            builder.apply(change)
        return StoredChannel("msgpack", builder.data(), version, builder.chain)


def by_task_and_index(write: StoredWrite) -> tuple[str, int]:
    return (write.task_id, write.idx)


def other_language(thread_id: str) -> OtherLanguageError:
    return OtherLanguageError(
        f"Thread {thread_id} was written by a JavaScript graph, and a Python graph cannot continue it. "
        "Use a new thread."
    )
