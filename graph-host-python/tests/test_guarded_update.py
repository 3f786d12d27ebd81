"""State updates that write only to a thread that has not changed since they read it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from heddle_host.checkpoints.errors import HeadMovedError
from heddle_host.checkpoints.remote import RemoteCheckpoints
from heddle_host.checkpoints.saver import HeddleSaver

from .conftest import fetch

_CHANGES = [("", "", False), ("", "child:1", True), ("child:1", "", False), ("child:1", "child:1", False)]


def _config(thread_id: str, ns: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns}}


async def _put(saver: HeddleSaver, config: RunnableConfig) -> RunnableConfig:
    metadata: Any = {"source": "update", "step": 0, "parents": {}}
    return await saver.aput(config, empty_checkpoint(), metadata, {})


@pytest.mark.parametrize(("ns", "changed", "accepted"), [*_CHANGES, ("child:1", "child:2", True)])
async def test_rejects_what_is_based_on_an_old_head(
    checkpoints: RemoteCheckpoints, ns: str, changed: str, accepted: bool
) -> None:
    thread_id = str(uuid4())
    await fetch("insert into threads (thread_id) values ($1::text::uuid)", [thread_id])
    for namespace in ("", "child:1"):
        await _put(HeddleSaver(checkpoints), _config(thread_id, namespace))
    saver = HeddleSaver(checkpoints, guarded=True)
    read = await saver.aget_tuple(_config(thread_id, ns))
    assert read
    written = await _put(saver, read.config)
    await _put(HeddleSaver(checkpoints), _config(thread_id, changed))
    if accepted:
        await _put(saver, written)
    else:
        with pytest.raises(HeadMovedError):
            await _put(saver, written)
