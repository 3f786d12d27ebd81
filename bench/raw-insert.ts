// Baseline of the engine: the runs that a benchmark left in a chDB directory, written to a file of JSON lines and
// inserted from it into an empty table of the same kind. Prints rows per second. Runs in a separate process, because a
// process can have one chDB directory.
import { rmSync } from "node:fs";

import { Session } from "chdb";

const [directory, limit] = process.argv.slice(2) as [string, string];
const session = new Session(directory);
const file = `${directory}/../rows.ndjson`;
rmSync(file, { force: true });
await session.queryAsync(`select * from runs limit ${Number(limit)} into outfile '${file}' format JSONEachRow`);
await session.queryAsync("drop table if exists raw_insert");
await session.queryAsync("create table raw_insert as runs");
const startedAt = performance.now();
await session.queryAsync(`insert into raw_insert from infile '${file}' format JSONEachRow`);
const seconds = (performance.now() - startedAt) / 1000;
const count = Number((await session.queryAsync("select count() from raw_insert", { format: "CSV" })).text());
await session.queryAsync("drop table raw_insert sync");
session.close();
rmSync(file, { force: true });
console.log(JSON.stringify({ rows: count, seconds }));
