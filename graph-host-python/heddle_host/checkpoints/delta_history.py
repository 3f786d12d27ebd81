"""Reads the history from which the library rebuilds a delta channel."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..postgres import Parameter
from .list_changes import CHANGE_TYPE, StoredChannel
from .read_statement import CheckpointQuery, Fetch, StoredWrite, read_checkpoints
from .write_statement import text_array

_HISTORY_PAGE = 500


def _history_statement(from_id: bool) -> str:
    condition = "and checkpoint_id = $4" if from_id else ""
    return f"""
with recursive chain as (
  (select 0 as depth, checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions' as versions
   from checkpoints
   where thread_id = $1 and checkpoint_ns = $2 {condition}
   order by checkpoint_id desc limit 1)
  union all
  select chain.depth + 1, c.*
  from chain cross join lateral (
    select checkpoint_id, parent_checkpoint_id, checkpoint -> 'channel_versions' from checkpoints
    where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = chain.parent_checkpoint_id offset 0
  ) c
  where chain.depth < {_HISTORY_PAGE}
), seed as materialized (
  select distinct on (wanted.channel) chain.depth, chain.checkpoint_id, wanted.channel, bl.version
  from chain cross join unnest($3::text[]) as wanted (channel) cross join lateral (
    select version from checkpoint_blobs
    where thread_id = $1 and checkpoint_ns = $2 and channel = wanted.channel
      and version = chain.versions ->> wanted.channel and type <> 'empty' offset 0
  ) bl
  where chain.depth > 0
  order by wanted.channel, chain.depth
)
select 0 as kind, seed.depth, seed.channel, seed.checkpoint_id as task_id, null::int as idx, bl.type, bl.blob
from seed cross join lateral (
  select type, blob from checkpoint_blobs
  where thread_id = $1 and checkpoint_ns = $2 and channel = seed.channel and version = seed.version offset 0
) bl
union all
(select 1, chain.depth, w.channel, w.task_id, w.idx, w.type, w.blob
 from chain cross join lateral (
   select * from checkpoint_writes
   where thread_id = $1 and checkpoint_ns = $2 and checkpoint_id = chain.checkpoint_id and channel = any($3::text[])
   offset 0
 ) w
 left join seed on seed.channel = w.channel
 where chain.depth > 0 and (seed.depth is null or chain.depth <= seed.depth))
union all
select 2, chain.depth, null, chain.checkpoint_id, null, null, null from chain where chain.depth = {_HISTORY_PAGE}"""


@dataclass(slots=True)
class StoredHistory:
    """Writes of a checkpoint's ancestors to one channel since the nearest that holds its value, oldest first."""

    writes: list[StoredWrite] = field(default_factory=list)
    seed: StoredChannel | None = None


async def read_delta_history(
    fetch: Fetch, thread_id: str, ns: str, checkpoint_id: str | None, channels: list[str]
) -> dict[str, StoredHistory]:
    """Reads the history from which the library rebuilds a delta channel, one query per page of ancestors."""
    pages: dict[str, list[list[StoredWrite]]] = {channel: [] for channel in channels}
    histories = {channel: StoredHistory() for channel in channels}
    remaining = list(channels)
    start = checkpoint_id
    while remaining:
        parameters: list[Parameter] = [thread_id, ns, text_array(remaining)]
        if start is not None:
            parameters.append(start)
        found: dict[str, list[tuple[int, StoredWrite]]] = {}
        following: str | None = None
        for kind, depth, channel, task_id, idx, kind_of_value, data in await fetch(
            _history_statement(start is not None), parameters
        ):
            if kind == 2:
                following = task_id
            elif kind == 0:
                seed = StoredChannel(kind_of_value, data or b"", "")
                if kind_of_value == CHANGE_TYPE:
                    # the value of an ordinary list channel, of which the row holds only the change
                    named, _ = await read_checkpoints(fetch, CheckpointQuery(thread_id, ns, task_id, limit=1))
                    seed = named[0].values[channel]
                histories[channel].seed = seed
            else:
                write = StoredWrite(kind_of_value, data or b"", task_id, idx, channel)
                found.setdefault(channel, []).append((depth, write))
        for channel, writes in found.items():
            writes.sort(key=lambda entry: (-entry[0], entry[1].task_id, entry[1].idx))
            pages[channel].append([write for _, write in writes])
        remaining = [channel for channel in remaining if histories[channel].seed is None]
        if following is None:
            break
        start = following
    for channel, history in histories.items():
        history.writes = [write for page in reversed(pages[channel]) for write in page]
    return histories
