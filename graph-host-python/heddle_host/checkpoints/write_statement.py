"""The statement that writes everything of many runs, and the rows that it gathers.

Small columns are passed as arrays, one element per row; potentially large values are concatenated in one bytea ($3),
which rows reference by position and length. The statements are those of graph-host/src/checkpoints/write-statement.ts,
and both hosts write the same tables.

The fence: a row is written only if its fence number is 0 (no run) or belongs to a run that is running with that very
attempt. `for share` locks the run's row until the commit, so that either a take-over waits for this statement or this
statement sees the take-over. The statement returns the fences that held.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

from ..postgres import Parameter
from .list_changes import StoredChannel

T = TypeVar("T")

_FENCE = """  select f.n
  from unnest($1::text[], $2::int[]) with ordinality as f (run_id, attempt, n)
  join runs r on r.run_id = f.run_id::uuid and r.attempt = f.attempt and coalesce(r.status, '') = 'running'"""

_ROWS = """checkpoint_rows as (
  insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
  select c.thread_id, c.ns, c.id, c.parent_id,
         convert_from(substring($3::bytea from c.at for c.checkpoint_length), 'UTF8')::jsonb,
         convert_from(substring($3::bytea from c.at + c.checkpoint_length for c.metadata_length), 'UTF8')::jsonb
  from unnest($4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[], $11::int[])
    as c (fence, thread_id, ns, id, parent_id, at, checkpoint_length, metadata_length)
  where c.fence = 0 or c.fence in (select n from fence)
  on conflict (thread_id, checkpoint_ns, checkpoint_id)
  do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata
  returning 1
), blob_rows as (
  insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob, base, chain, depth)
  select b.thread_id, b.ns, b.channel, b.version, b.type, substring($3::bytea from b.at for b.length),
         split_part(b.link, '/', 1), split_part(b.link, '/', 2), split_part(b.link, '/', 3)::int
  from unnest($12::int[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::int[], $19::int[],
              $20::text[])
    as b (fence, thread_id, ns, channel, version, type, at, length, link)
  where b.fence = 0 or b.fence in (select n from fence)
  on conflict (thread_id, checkpoint_ns, channel, version) do nothing
  returning 1
), write_row as (
  select w.*
  from unnest($21::int[], $22::text[], $23::text[], $24::text[], $25::text[], $26::int[], $27::text[], $28::text[],
              $29::int[], $30::int[], $31::bool[])
    as w (fence, thread_id, ns, checkpoint_id, task_id, idx, channel, type, at, length, replaces)
  where w.fence = 0 or w.fence in (select n from fence)
), write_rows as (
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select thread_id, ns, checkpoint_id, task_id, idx, channel, type, substring($3::bytea from at for length)
  from write_row where not replaces
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) do nothing
  returning 1
), replacing_rows as (
  insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
  select thread_id, ns, checkpoint_id, task_id, idx, channel, type, substring($3::bytea from at for length)
  from write_row where replaces
  on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
  do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob
  returning 1
)"""

_ANSWER = "select n::int, null::int as finished, null::text as outcome, null::boolean as waiting from fence"

WRITE_STATEMENT = f"""
with fence as materialized ({_FENCE}
  for share of r
), {_ROWS}
{_ANSWER}"""

GUARDED_STATEMENT = f"""
with unused as (select $1::text[], $2::int[]), fence as materialized (
  select 1 as n where holds_head($32::text, $33::text[], $34::text[], $35::text)
), {_ROWS}
{_ANSWER}"""
"""For a state update, which has no run: `holds_head` locks the thread's row and compares its newest checkpoints."""

FINISH_STATEMENT = f"""
with held as materialized (
  select t.thread_id
  from runs r join threads t on t.thread_id = r.thread_id
  where r.run_id = any($1::text[]::uuid[])
  order by t.thread_id for update of t
), fence as materialized ({_FENCE}
  cross join (select count(*) from held) h
  for share of r
), {_ROWS},
written as materialized (
  select (select count(*) from checkpoint_rows) + (select count(*) from blob_rows)
       + (select count(*) from write_rows) + (select count(*) from replacing_rows) as n
)
{_ANSWER}
union all
select null, f.fence, e.outcome, e.waiting
from written w
cross join unnest($32::int[], $33::text[], $34::text[], $35::int[], $36::int[], $37::int[], $38::boolean[])
  as f (fence, run_id, thread_id, attempt, at, length, notify)
cross join lateral finish_run(f.run_id::uuid, f.thread_id::uuid, f.attempt + 0 * w.n::int, 'success', null,
  convert_from(substring($3::bytea from f.at for f.length), 'UTF8')::jsonb, f.notify) e
where f.fence in (select n from fence)"""
"""`WRITE_STATEMENT`, followed by the end of the runs named in the last parameters.

`finish_run` sees this statement's writes, because its argument depends on their count. Runs whose rows the fence
rejected are not passed to it. Threads are locked before runs and in order of their ids, as everywhere.
"""


class Fence(NamedTuple):
    run_id: str
    attempt: int


class HeadGuard(NamedTuple):
    """Precondition of a state update: no namespace has a checkpoint newer than in `newest`, and no run is active."""

    thread_id: str
    newest: list[tuple[str, str]]
    """Newest checkpoint of each namespace that the update has read, the root graph's among them; empty for none."""


class FinishRow(NamedTuple):
    thread_id: str
    state: bytes
    notify: bool


class Finished(NamedTuple):
    outcome: str
    waiting: bool


@dataclass(slots=True)
class CheckpointRow:
    thread_id: str
    ns: str
    id: str
    parent_id: str | None
    checkpoint: bytes
    metadata: bytes


@dataclass(slots=True)
class BlobRow:
    """`blob` is None for a channel that became empty; `type` is then `empty`.

    `link` is that of a change (list_changes.py), and `value` the value that it leads to.
    """

    thread_id: str
    ns: str
    channel: str
    version: str
    type: str
    blob: bytes | None
    link: str | None = None
    value: StoredChannel | None = None


@dataclass(slots=True)
class WriteRow:
    """`replaces`: a later write of the same task and index replaces this one (errors, interrupts, resumes)."""

    thread_id: str
    ns: str
    checkpoint_id: str
    task_id: str
    idx: int
    channel: str
    type: str
    blob: bytes
    replaces: bool


@dataclass(slots=True, eq=False)
class WriteItem:
    """Rows that are written atomically. Writing them is idempotent."""

    fence: Fence | None = None
    guard: HeadGuard | None = None
    checkpoint: CheckpointRow | None = None
    blobs: list[BlobRow] = field(default_factory=list)
    writes: list[WriteRow] = field(default_factory=list)
    finish: FinishRow | None = None

    @property
    def size(self) -> int:
        size = len(self.checkpoint.checkpoint) + len(self.checkpoint.metadata) if self.checkpoint else 0
        size += sum(200 + len(row.blob or b"") for row in self.blobs)
        size += sum(200 + len(row.blob) for row in self.writes)
        return size + (len(self.finish.state) if self.finish else 0)


class _Row(NamedTuple):
    fence: int
    row: Any


class StatementBuilder:
    """Gathers items for one statement.

    A statement may not touch a row twice, so rows with one key are merged here, in order, as the database would.
    """

    def __init__(self) -> None:
        self.items: list[WriteItem] = []
        self._guard: HeadGuard | None = None
        self._fences: dict[Fence, int] = {}
        self._rows: dict[tuple[str, ...], _Row] = {}

    def add(self, item: WriteItem) -> bool:
        """Returns False, and adds nothing, when the item's rows collide with those of another fence."""
        if self.items and (item.guard or self._guard):
            return False
        if item.guard:
            fence = 1
        elif item.fence:
            fence = self._fences.get(item.fence, len(self._fences) + 1)
        else:
            fence = 0
        rows = list(_keyed_rows(item))
        for key, _ in rows:
            other = self._rows.get(key)
            if other and other.fence != fence:
                return False
        self._guard = item.guard
        if item.fence:
            self._fences.setdefault(item.fence, fence)
        for key, row in rows:
            earlier = self._rows.get(key)
            if earlier is None:
                self._rows[key] = _Row(fence, row)
            elif isinstance(row, CheckpointRow):
                self._rows[key] = _Row(fence, replace(row, parent_id=earlier.row.parent_id))
            elif isinstance(row, WriteRow) and row.replaces:
                self._rows[key] = _Row(fence, row)
        self.items.append(item)
        return True

    @property
    def statement(self) -> str:
        if self._guard:
            return GUARDED_STATEMENT
        return FINISH_STATEMENT if any(item.finish for item in self.items) else WRITE_STATEMENT

    def parameters(self, with_ends: bool = False) -> list[Parameter]:
        """Returns the parameters of `statement`. `with_ends`: those of FINISH_STATEMENT even if no run ends."""
        body = _Body()
        checkpoints: list[tuple[int, CheckpointRow, int]] = []
        blobs: list[tuple[int, BlobRow, int]] = []
        writes: list[tuple[int, WriteRow, int]] = []
        for fence, row in self._rows.values():
            if isinstance(row, CheckpointRow):
                checkpoints.append((fence, row, body.add(row.checkpoint)))
                body.add(row.metadata)
            elif isinstance(row, BlobRow):
                blobs.append((fence, row, body.add(row.blob or b"")))
            else:
                writes.append((fence, row, body.add(row.blob)))
        ends = [
            (item.fence, item.finish, body.add(item.finish.state)) for item in self.items if item.finish and item.fence
        ]
        c, b, w = checkpoints, blobs, writes
        parameters: list[Parameter] = [
            _texts(self._fences, lambda f: f.run_id),
            _plain(self._fences, lambda f: f.attempt),
            body.bytes(),
            _plain(c, lambda x: x[0]),
            _texts(c, lambda x: x[1].thread_id),
            _texts(c, lambda x: x[1].ns),
            _texts(c, lambda x: x[1].id),
            _texts(c, lambda x: x[1].parent_id),
            _plain(c, lambda x: x[2]),
            _plain(c, lambda x: len(x[1].checkpoint)),
            _plain(c, lambda x: len(x[1].metadata)),
            _plain(b, lambda x: x[0]),
            _texts(b, lambda x: x[1].thread_id),
            _texts(b, lambda x: x[1].ns),
            _texts(b, lambda x: x[1].channel),
            _texts(b, lambda x: x[1].version),
            _texts(b, lambda x: x[1].type),
            _plain(b, lambda x: x[2]),
            _plain(b, lambda x: "NULL" if x[1].blob is None else len(x[1].blob)),
            _texts(b, lambda x: x[1].link),
            _plain(w, lambda x: x[0]),
            _texts(w, lambda x: x[1].thread_id),
            _texts(w, lambda x: x[1].ns),
            _texts(w, lambda x: x[1].checkpoint_id),
            _texts(w, lambda x: x[1].task_id),
            _plain(w, lambda x: x[1].idx),
            _texts(w, lambda x: x[1].channel),
            _texts(w, lambda x: x[1].type),
            _plain(w, lambda x: x[2]),
            _plain(w, lambda x: len(x[1].blob)),
            _plain(w, lambda x: "t" if x[1].replaces else "f"),
        ]
        if self._guard:
            heads = [_texts(self._guard.newest, lambda n: n[0]), _texts(self._guard.newest, lambda n: n[1])]
            return [*parameters, self._guard.thread_id, *heads, c[0][1].id if c else ""]
        if not ends and not with_ends:
            return parameters
        return [
            *parameters,
            _plain(ends, lambda e: self._fences[e[0]]),
            _texts(ends, lambda e: e[0].run_id),
            _texts(ends, lambda e: e[1].thread_id),
            _plain(ends, lambda e: e[0].attempt),
            _plain(ends, lambda e: e[2]),
            _plain(ends, lambda e: len(e[1].state)),
            _plain(ends, lambda e: "t" if e[1].notify else "f"),
        ]

    def fence_number(self, item: WriteItem) -> int:
        if item.guard:
            return 1
        return self._fences[item.fence] if item.fence else 0

    def ends_run(self, item: WriteItem) -> bool:
        """Whether the run of this item ends with this statement."""
        return any(other.finish and other.fence == item.fence for other in self.items)

    def was_fenced(self, item: WriteItem, held: set[int]) -> bool:
        return (item.guard or item.fence) is not None and self.fence_number(item) not in held


def _keyed_rows(item: WriteItem) -> Iterable[tuple[tuple[str, ...], CheckpointRow | BlobRow | WriteRow]]:
    c = item.checkpoint
    if c:
        yield ("c", c.thread_id, c.ns, c.id), c
    for b in item.blobs:
        yield ("b", b.thread_id, b.ns, b.channel, b.version), b
    for w in item.writes:
        yield ("w", w.thread_id, w.ns, w.checkpoint_id, w.task_id, str(w.idx)), w


class _Body:
    """The bytea; positions count from 1, as `substring` does."""

    def __init__(self) -> None:
        self._position = 1
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> int:
        at = self._position
        self._parts.append(part)
        self._position += len(part)
        return at

    def bytes(self) -> bytes:
        return b"".join(self._parts)


_PLAIN_TEXT = re.compile(r"[\w.:|-]*", re.ASCII)


def text_array(rows: Iterable[str | None]) -> str:
    """Builds a text array in Postgres' text format."""
    return "{" + ",".join(map(_element, rows)) + "}"


def _texts(rows: Iterable[T], value: Callable[[T], str | None]) -> str:
    return text_array(value(row) for row in rows)


def _plain(rows: Iterable[T], value: Callable[[T], int | str]) -> str:
    return "{" + ",".join(str(value(row)) for row in rows) + "}"


def _element(text: str | None) -> str:
    if text is None:
        return "NULL"
    if _PLAIN_TEXT.fullmatch(text):
        return f'"{text}"'
    cleaned = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return '"' + cleaned.replace("\\", "\\\\").replace('"', '\\"') + '"'
