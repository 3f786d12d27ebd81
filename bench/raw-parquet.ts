// Baseline of the engine: the runs of a chDB directory, merged, as one Parquet file on the local disk, with the
// columns, the compression and the row groups of an export. Prints rows, seconds and seconds of CPU time. Runs in
// a separate process, because a process can have one chDB directory. With "sums" a root's statistics are those of its
// trace, as in an export; without it they come from its own row, and the engine reads nothing twice.
import { rmSync, statSync } from "node:fs";

import { Session } from "chdb";

const [directory, which] = process.argv.slice(2) as [string, string?];
const withSums = which === "sums";
const session = new Session(directory);
const file = `${directory}/../raw.parquet`;
rmSync(file, { force: true });
const STATISTICS = [
  ...["total_tokens", "prompt_tokens", "completion_tokens"],
  ...["total_cost", "prompt_cost", "completion_cost"],
];
const statistic = (name: string) =>
  withSums ? `if(parent_run_id is null, coalesce(t.models_${name}, runs.${name}, t.all_${name}), runs.${name})` : name;
const sums = STATISTICS.map(
  (name) => `sumIf(${name}, run_type in ('llm', 'embedding')) as models_${name}, sum(${name}) as all_${name}`,
);
const join = withSums
  ? `left any join (select trace_id as trace, ${sums.join(", ")} from runs final group by trace_id) as t
    on runs.trace_id = t.trace`
  : "";
// the 29 of server/src/trace/bulk-exports/columns.ts, except for feedback statistics, as there is no feedback
const columns = `toString(id) as c0, toString(tenant_id) as c1, toString(project_id) as c2, toString(trace_id) as c3,
  toString(parent_run_id) as c4,
  arrayMap(s -> right(s, 36), arrayPopBack(splitByChar('.', ifNull(dotted_order, '')))) as c5,
  toString(reference_example_id) as c6, ifNull(name, '') as c7, cast(ifNull(run_type, 'chain') as String) as c8,
  start_time, end_time, cast(multiIf(error is not null, 'error', end_time is not null, 'success', 'pending') as String)
  as c9, cast(parent_run_id is null as Bool) as c10, ifNull(dotted_order, '') as c11,
  cast(ifNull(trace_tier, 'longlived') as String) as c12, inputs, outputs, error, extra, events,
  arrayPopBack(arrayPopFront(splitByChar('\\x1E', ifNull(tags, '\\x1E')))) as c13, cast(null as Nullable(String)) as c14,
  ifNull(${statistic("total_tokens")}, 0) as c15, ifNull(${statistic("prompt_tokens")}, 0) as c16, ifNull(${statistic("completion_tokens")}, 0) as c17,
  toFloat64(${statistic("total_cost")}) as c18, toFloat64(${statistic("prompt_cost")}) as c19, toFloat64(${statistic("completion_cost")}) as c20, first_token_time`;
const settings = `output_format_parquet_compression_method = 'zstd', output_format_parquet_write_bloom_filter = 0,
  output_format_parquet_row_group_size = 8000, output_format_parquet_row_group_size_bytes = 33554432,
  max_block_size = 2000, join_algorithm = 'hash'`;
const before = process.cpuUsage();
const startedAt = performance.now();
await session.queryAsync(
  `insert into function file('${file}', 'Parquet') settings ${settings} select ${columns} from runs final ${join}`,
);
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(before);
const tokens = Number((await session.queryAsync(`select sum(c15) from file('${file}')`, { format: "CSV" })).text());
const rows = Number((await session.queryAsync(`select count() from file('${file}')`, { format: "CSV" })).text());
session.close();
const { size } = statSync(file);
rmSync(file, { force: true });
console.log(JSON.stringify({ rows, tokens, seconds, bytes: size, cpu: (user + system) / 1e6 }));
