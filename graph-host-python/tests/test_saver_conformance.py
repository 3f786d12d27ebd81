"""The official conformance tests for savers, and the official saver's view of the same rows."""

from __future__ import annotations

from collections.abc import AsyncIterator

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.report import ProgressCallbacks

from heddle_host.checkpoints.database import CheckpointDatabase
from heddle_host.checkpoints.saver import HeddleSaver

from .conftest import database_uri


@checkpointer_test(name="HeddleSaver")
async def heddle_saver() -> AsyncIterator[HeddleSaver]:
    database = CheckpointDatabase(database_uri())
    yield HeddleSaver(database)
    database.close()


async def test_saver_passes_the_official_conformance_tests() -> None:
    report = await validate(heddle_saver, progress=ProgressCallbacks.verbose())
    report.print_report()
    assert report.passed_all_base()
