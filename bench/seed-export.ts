// Runs of 2 kB for bench/export.ts, written into a chDB directory by the engine itself: traces of five, a root and four
// model calls, spread evenly over some days. In a separate process, because a process can have one chDB directory.
import { Session } from "chdb";

import { PROSE } from "./ingest-load.ts";

const [directory, tenant, project, count, from, days] = process.argv.slice(2) as [string, string, string, ...string[]];
const RUNS = Number(count);
const CHUNK = 50_000;
const STEP = (Number(days) * 86_400e6) / RUNS;

const session = new Session(directory);
const prose = PROSE.replaceAll(/[^\x20-\x7e]|['"\\]/g, " ");
const uuid = (text: string) => `reinterpretAsUUID(sipHash128(${text}))`;
const text = (salt: number) => `substring('${prose}', 1 + cityHash64(number, ${salt}) % ${prose.length - 700}, 700)`;
const segment = (id: string) =>
  `concat(replaceRegexpAll(formatDateTime(start, '%Y%m%dT%H%i%S%f'), '[^0-9T]', ''), 'Z', toString(${id}))`;

for (let first = 0; first < RUNS; first += CHUNK) {
  const rows = Math.min(CHUNK, RUNS - first);
  await session.queryAsync(`insert into runs (tenant_id, project_id, start_time, id, trace_id, parent_run_id,
      dotted_order, name, run_type, end_time, inputs, outputs, extra, events, tags, metadata, thread_id, prompt_tokens,
      completion_tokens, total_tokens, total_cost, first_token_time, inserted_at, updated_at)
    select '${tenant}', '${project}', fromUnixTimestamp64Micro(toInt64(${Number(from)} * 1000 + number * ${STEP})) as start,
      ${uuid("number")} as id, ${uuid("intDiv(number, 5) * 5")} as trace, number % 5 = 0 ? null : trace,
      number % 5 = 0 ? ${segment("id")} : concat(${segment("trace")}, '.', ${segment("id")}),
      number % 5 = 0 ? 'agent' : 'model', number % 5 = 0 ? 'chain' : 'llm', addMilliseconds(start, number % 5000),
      concat('{"messages":[{"role":"user","content":"', ${text(1)}, '"}]}'),
      concat('{"messages":[{"role":"assistant","content":"', ${text(2)}, '"}]}'),
      concat('{"metadata":{"user":"u', toString(number % 997), '","ls_model_name":"model-1"},"runtime":{"sdk":"bench"}}'),
      '[]', concat(char(30), 'bench', char(30)),
      concat(char(30), 'user', char(31), 'u', toString(number % 997), char(30)), toString(trace),
      number % 5 = 0 ? null : 120, number % 5 = 0 ? null : 80, number % 5 = 0 ? null : 200,
      number % 5 = 0 ? null : toDecimal128('0.00123', 18), number % 5 = 0 ? null : addMilliseconds(start, 300), start, start
    from numbers(${first}, ${rows}) settings max_query_size = 4000000`);
}
session.close();
