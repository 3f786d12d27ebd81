// What the engine itself does: the runs of a chDB directory, merged, as one Parquet file on the local disk, in the
// columns and with the settings of an export. Prints rows and seconds. In a process of its own, because a process can
// have one chDB directory.
import { rmSync, statSync } from "node:fs";

import { Session } from "chdb";

const [directory] = process.argv.slice(2) as [string];
const session = new Session(directory);
const file = `${directory}/../raw.parquet`;
rmSync(file, { force: true });
const columns = `toString(id) as c0, toString(tenant_id) as c1, toString(project_id) as c2, toString(trace_id) as c3,
  toString(parent_run_id) as c4, dotted_order as c5, toString(reference_example_id) as c6, name as c7,
  cast(run_type as Nullable(String)) as c8, start_time as c9, end_time as c10, cast(status as Nullable(String)) as c11,
  parent_run_id is null as c12, cast(trace_tier as Nullable(String)) as c13, inputs, outputs, error, extra, events, tags,
  total_tokens, prompt_tokens, completion_tokens, toFloat64(total_cost) as c20, toFloat64(prompt_cost) as c21,
  toFloat64(completion_cost) as c22, first_token_time`;
const settings = `output_format_parquet_compression_method = 'zstd', output_format_parquet_write_bloom_filter = 0,
  output_format_parquet_row_group_size = 50000, output_format_parquet_row_group_size_bytes = 33554432`;
const began = performance.now();
await session.queryAsync(
  `insert into function file('${file}', 'Parquet') settings ${settings} select ${columns} from runs final`,
);
const seconds = (performance.now() - began) / 1000;
const rows = Number((await session.queryAsync(`select count() from file('${file}')`, { format: "CSV" })).text());
session.close();
const { size } = statSync(file);
rmSync(file, { force: true });
console.log(JSON.stringify({ rows, seconds, bytes: size }));
