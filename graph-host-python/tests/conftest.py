"""Tests against a real Postgres: HEDDLE_TEST_DATABASE_URI names a database with the server's schema.

`scripts/services/python-suite.ts` starts one and sets the variable. Without it, tests that need it fail.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest_asyncio

from heddle_host.checkpoints.database import CheckpointDatabase
from heddle_host.task_contexts import install_task_contexts

install_task_contexts()


def database_uri() -> str:
    uri = os.environ.get("HEDDLE_TEST_DATABASE_URI")
    assert uri, "HEDDLE_TEST_DATABASE_URI is not set: run these tests with scripts/services/python-suite.ts"
    return uri


@pytest_asyncio.fixture
async def database() -> AsyncIterator[CheckpointDatabase]:
    opened = CheckpointDatabase(database_uri())
    yield opened
    opened.close()
