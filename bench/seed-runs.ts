// A project of many runs, written into a chDB directory by the engine itself, as ingest would have left it: each run in
// two pieces, its start and its end; traces of 20 runs over the last 30 days, and one of 1,000. Runs in a separate
// process, because a process can have one chDB directory.
import { Session } from "chdb";

const [directory, tenant, project, count, bigTrace] = process.argv.slice(2) as [string, string, string, string, string];
const RUNS = Number(count);
const CHUNK = 50_000;
const TRACE = 20;
const BIG = 1000;
const DAYS = 30;

const session = new Session(directory);
const execute = (query: string) => session.queryAsync(query);

const step = (DAYS * 86_400e6) / RUNS;
const from = Date.now() * 1000 - DAYS * 86_400e6;
const uuid = (text: string) => `reinterpretAsUUID(sipHash128(${text}))`;

/** Selects `number`, `id`, `trace`, `root` and `start` of the runs from `first` on. */
const runs = (first: number, rows: number) => `(
  select number, ${uuid("number")} as id, intDiv(number, ${TRACE}) * ${TRACE} as first_number,
    ${uuid("first_number")} as trace, number = first_number as root,
    fromUnixTimestamp64Micro(toInt64(${from} + number * ${step})) as start
  from numbers(${first}, ${rows}))`;

/** The same for the large trace: its root in the middle of the project, its runs a millisecond apart. */
const bigRuns = `(
  select number, if(number = 0, toUUID('${bigTrace}'), ${uuid("concat('big', toString(number))")}) as id,
    toUUID('${bigTrace}') as trace, number = 0 as root,
    fromUnixTimestamp64Micro(toInt64(${from + (DAYS / 2) * 86_400e6} + number * 1000)) as start
  from numbers(${BIG}))`;

const KEYS = `toUUID('${tenant}') as tenant_id, toUUID('${project}') as project_id, start as start_time, id, trace as trace_id`;
const SEGMENT = (id: string) =>
  `concat(replaceRegexpAll(formatDateTime(start, '%Y%m%dT%H%i%S%f'), '[^0-9T]', ''), 'Z', toString(${id}))`;

const starts = (source: string) => `insert into runs (tenant_id, project_id, start_time, id, trace_id, parent_run_id,
    dotted_order, name, run_type, inputs, inputs_preview, extra, tags, metadata, thread_id, inserted_at, updated_at)
  select ${KEYS}, if(root, null, trace), if(root, ${SEGMENT("id")}, concat(${SEGMENT("trace")}, '.', ${SEGMENT("id")})),
    concat('step ', toString(number % 20)), if(number % 4 = 3, 'llm', 'chain'),
    concat('{"question":"', hex(randomString(150)), '","messages":["', repeat('a word in a sentence ', 20), '"]}'), 'a question',
    concat('{"metadata":{"user":"', toString(number % 997), '"},"runtime":{"sdk":"bench","library":"bench"}}'),
    concat(char(30), 'bench', char(30)),
    concat(char(30), 'user', char(31), toString(number % 997), char(30), 'env', char(31), if(number % 3 = 0, 'prod', 'dev'), char(30)),
    if(root, toString(intDiv(number, 200)), null), start, start
  from ${source}`;

const ends = (source: string) => `insert into runs (tenant_id, project_id, start_time, id, trace_id, end_time, outputs,
    outputs_preview, error, total_tokens, prompt_tokens, completion_tokens, total_cost, updated_at)
  select ${KEYS}, addMilliseconds(start, toInt64(cityHash64(number) % 10000)),
    concat('{"answer":"', hex(randomString(150)), '"}'), 'an answer', if(number % 50 = 0, 'Error: no', null),
    if(number % 4 = 3, 100, null), if(number % 4 = 3, 60, null), if(number % 4 = 3, 40, null),
    if(number % 4 = 3, toDecimal128(0.001, 18), null), start
  from ${source}`;

const keys = (source: string) => `insert into run_keys (tenant_id, id, project_id, start_time, trace_id, version)
  select toUUID('${tenant}'), id, toUUID('${project}'), start, trace, start from ${source}`;

for (let first = 0; first < RUNS; first += CHUNK) {
  const source = runs(first, Math.min(CHUNK, RUNS - first));
  for (const statement of [starts, ends, keys]) await execute(statement(source));
}
for (const statement of [starts, ends, keys]) await execute(statement(bigRuns));
// the engine's own merges, as they would have run during ingest; the rest stays unmerged
for (let idle = 0; idle < 5;) {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const merging = Number((await session.queryAsync("select count() from system.merges", { format: "CSV" })).text());
  idle = merging === 0 ? idle + 1 : 0;
}
session.close();
