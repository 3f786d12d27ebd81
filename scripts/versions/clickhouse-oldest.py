"""Replays statements of the trace platform on the oldest ClickHouse version that the docs name.

    node --import tsx scripts/versions/clickhouse-suite.ts --emulated --statements statements.jsonl
    python3 -m venv /tmp/oldest && /tmp/oldest/bin/pip install chdb==3.7.2
    /tmp/oldest/bin/python scripts/versions/clickhouse-oldest.py statements.jsonl

chdb 3.7.2 contains the engine of ClickHouse 25.8. Tables are created by the recorded migrations; queries run on them
empty, which checks their grammar, functions, types and settings.
"""

import json
import re
import sys
import tempfile

from chdb import session

NOT_SETTINGS = {"query", "query_id", "database", "wait_end_of_query", "session_id", "role", "default_format"}
# errors of what a test does on purpose, or of data that is not there: a missing table, a killed or limited query
EXPECTED = {"Code: 60.", "Code: 159.", "Code: 241.", "Code: 307.", "Code: 396.", "Code: 158."}


def literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def main(path: str) -> int:
    with tempfile.TemporaryDirectory() as directory, open(path, encoding="utf-8") as lines:
        engine = session.Session(directory)
        version = str(engine.query("select version()")).strip().strip('"')
        engine.query("create database suite")
        ran, skipped, failures = 0, 0, []
        for line in lines:
            recorded = json.loads(line)
            query, given = recorded["query"], recorded["given"]
            bare = re.sub(r"^\s*(/\*.*?\*/\s*|--[^\n]*\n\s*)*", "", query, flags=re.S)
            if re.match(r"(insert|create database|drop database|kill|system)\b", bare, re.I):
                skipped += 1
                continue
            sets = ["use suite"]
            for name, value in given.items():
                if name.startswith("param_") or name not in NOT_SETTINGS:
                    sets.append(f"set {name} = {literal(value)}")
            try:
                engine.query("; ".join(sets) + "; " + query, given.get("default_format", "JSON"))
                ran += 1
            except Exception as error:
                message = str(error)
                if any(code in message for code in EXPECTED):
                    skipped += 1
                else:
                    failures.append(f"{message[:600]}\n    {query[:600]}")
        print(f"ClickHouse {version}: {ran} statements ran, {skipped} skipped, {len(failures)} failed")
        print("\n".join(failures))
        return 1 if failures or ran == 0 else 0


sys.exit(main(sys.argv[1]))
