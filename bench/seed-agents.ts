/**
 * The rows of an agent server's long life, written by Postgres itself: threads whose runs are spread over 90 days and
 * over each other, each thread with its last two checkpoints, as pruning (`keep_latest`) leaves it, and crons. Indexes are
 * dropped before and built after; `analyze` follows.
 */
import { createHash } from "node:crypto";

import type { Sql } from "postgres";

export interface AgentRows {
  threads: number;
  runsPerThread: number;
  crons: number;
}

export const ASSISTANT = "00000000-0000-7000-8000-000000000001";
/** Threads of a user. */
export const THREADS_PER_USER = 100;

const DAYS = 90;
const CHUNK = 500_000;

/** Id of a seeded thread: random to an index, as ids of clients are. */
export function seededThread(n: number): string {
  const hex = createHash("md5").update(`thread ${n}`).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Id of a seeded run. */
export function seededRun(n: number): string {
  const hex = n.toString(16).padStart(12, "0");
  return `01900000-${hex.slice(0, 4)}-7${hex.slice(4, 7)}-8000-${hex}`;
}

const thread = (n: string) => `md5('thread ' || ${n})::uuid`;
/** Ids of runs and checkpoints grow with time. */
const timed = (
  kind: number,
  n: string,
) => `('0${kind}9${"0".repeat(5)}-' || substr(lpad(to_hex(${n}), 12, '0'), 1, 4) || '-7' ||
  substr(lpad(to_hex(${n}), 12, '0'), 5, 3) || '-8000-' || lpad(to_hex(${n}), 12, '0'))`;

/** Fills a migrated, empty database. `report` is called with what has been done. */
export async function seedAgents(sql: Sql, rows: AgentRows, report: (text: string) => void): Promise<void> {
  const { threads, runsPerThread, crons } = rows;
  const runs = threads * runsPerThread;
  await sql`insert into assistants (assistant_id, graph_id, name, metadata)
    values (${ASSISTANT}, 'agent', 'agent', '{"created_by": "system"}')`;
  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.relname as name, pg_get_indexdef(x.indexrelid) as definition
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    where t.relname in ('threads', 'runs', 'crons') and not x.indisprimary`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await sql.begin(async (tx) => {
    // the rows are consistent; foreign keys would be checked row by row
    await tx`set local session_replication_role = replica`;
    await inChunks(threads, async (from, to) => {
      await tx.unsafe(THREADS(from, to, threads));
      for (const step of [1, 2]) for (const statement of CHECKPOINTS(from, to, step)) await tx.unsafe(statement);
      report(`${to} threads`);
    });
    await inChunks(runs, async (from, to) => {
      await tx.unsafe(RUNS(from, to, threads, runs));
      report(`${to} runs`);
    });
    await tx.unsafe(`select setval(pg_get_serial_sequence('runs', 'seq'), ${runs + 1})`);
    await tx.unsafe(CRONS(crons));
  });
  await sql`set maintenance_work_mem = '1GB'`;
  for (const { name, definition } of indexes) {
    await sql.unsafe(definition);
    report(`index ${name}`);
  }
  await sql`vacuum analyze`;
}

async function inChunks(rows: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < rows; from += CHUNK) await work(from, Math.min(rows, from + CHUNK));
}

/** Thread `n` was created `n / count` of the time ago; a hundredth is interrupted, two hundredths ended in an error. */
const THREADS = (from: number, to: number, count: number) => `
  insert into threads (thread_id, metadata, config, status, settled_status, values, values_of, error, created_at,
                       updated_at, state_updated_at, ttl_strategy, ttl_minutes, expires_at)
  select ${thread("n")},
    jsonb_build_object('graph_id', 'agent', 'assistant_id', '${ASSISTANT}', 'user', 'user-' || n / ${THREADS_PER_USER},
                       'channel', case n % 4 when 0 then 'mail' else 'web' end),
    '{"configurable": {}, "recursion_limit": 25}', s.status, s.status,
    jsonb_build_object('messages', jsonb_build_array(
      jsonb_build_object('type', 'human', 'id', md5('h' || n), 'content', repeat('a question ', 15)),
      jsonb_build_object('type', 'ai', 'id', md5('a' || n), 'content', repeat('an answer of some length ', 12)))),
    ${timed(2, "n * 2 + 2")}, case when s.status = 'error' then '{"error": "Error", "message": "no"}'::jsonb end,
    s.at, s.at + interval '1 hour', s.at + interval '1 hour',
    case when n % 3 = 0 then 'delete' end, case when n % 3 = 0 then 525600 end,
    case when n % 3 = 0 then s.at + interval '1 hour' + interval '525600 minutes' end
  from generate_series(${from}, ${to - 1}) n cross join lateral (
    select case when n % 100 = 7 then 'interrupted' when n % 50 = 3 then 'error' else 'idle' end as status,
           now() - interval '${DAYS} days' + n * (interval '${DAYS} days' / ${count}) as at
  ) s`;

const CHECKPOINTS = (from: number, to: number, step: number) => [
  `insert into checkpoints (thread_id, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
   select ${thread("n")}::text, ${timed(2, `n * 2 + ${step}`)}, ${step === 1 ? "null" : timed(2, "n * 2 + 1")},
     jsonb_build_object('v', 4, 'id', ${timed(2, `n * 2 + ${step}`)}, 'ts', '2026-01-01T00:00:00.000Z',
       'versions_seen', '{"__input__": {}, "__start__": {"__start__": "1.1"}, "agent": {"branch:to:agent": "2.2"}}'::jsonb,
       'channel_versions', jsonb_build_object('__start__', '2.2', 'branch:to:agent', '3.3', 'messages', '${step}.5')),
     jsonb_build_object('step', ${step}, 'source', 'loop', 'run_id', ${timed(1, "n")}, 'thread_id', ${thread("n")},
       'graph_id', 'agent', 'assistant_id', '${ASSISTANT}', 'user', 'user-' || n / ${THREADS_PER_USER})
   from generate_series(${from}, ${to - 1}) n`,
  `insert into checkpoint_blobs (thread_id, channel, version, type, blob)
   select ${thread("n")}::text, 'messages', '${step}.5', 'json', convert_to('[{"type":"human","id":"' || md5('h' || n)
     || '","content":"' || repeat('a question ', 15) || '"}]', 'UTF8')
   from generate_series(${from}, ${to - 1}) n`,
  `insert into checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, type, blob)
   select ${thread("n")}::text, ${timed(2, `n * 2 + ${step}`)}, md5('task' || n), 0, 'messages', 'json',
     convert_to('[{"type":"ai","content":"' || repeat('an answer ', 20) || '"}]', 'UTF8')
   from generate_series(${from}, ${to - 1}) n${step === 2 ? " where false" : ""}`,
];

/** The runs of a thread are far apart: 7,919 is a prime, so each thread gets as many. */
const RUNS = (from: number, to: number, threads: number, count: number) => `
  insert into runs (run_id, seq, thread_id, assistant_id, status, metadata, kwargs, available_at, attempt, server_id,
                    created_at, updated_at, started_at, ended_at)
  overriding system value
  select ${timed(1, "n")}::uuid, n + 1, ${thread("(n * 7919 % " + threads + ")")}, '${ASSISTANT}',
    case when n % 50 = 3 then 'error' when n % 100 = 7 then 'interrupted' else 'success' end,
    jsonb_build_object('graph_id', 'agent', 'assistant_id', '${ASSISTANT}', 'request', md5('r' || n)),
    jsonb_build_object('input', jsonb_build_object('messages', jsonb_build_array(jsonb_build_object(
        'role', 'user', 'content', repeat('a question ', 15)))),
      'config', jsonb_build_object('recursion_limit', 25, 'configurable', jsonb_build_object('run_id', ${timed(1, "n")},
          'thread_id', ${thread("(n * 7919 % " + threads + ")")}, 'graph_id', 'agent', 'assistant_id', '${ASSISTANT}'),
        'metadata', jsonb_build_object('graph_id', 'agent', 'assistant_id', '${ASSISTANT}', 'request', md5('r' || n))),
      'stream_mode', '["values"]'::jsonb, 'durability', 'sync'),
    at, 1, '00000000-0000-7000-8000-0000000000ff', at, at + interval '3 s', at, at + interval '3 s'
  from generate_series(${from}::bigint, ${to - 1}) n cross join lateral (
    select now() - interval '${DAYS} days' + n * (interval '${DAYS} days' / ${count}) as at) t`;

/** Half of the crons have a thread. Those that are due next are due in an hour. */
const CRONS = (count: number) => `
  insert into crons (cron_id, assistant_id, thread_id, schedule, enabled, payload, metadata, next_run_date, created_at)
  select ${timed(3, "n")}::uuid, '${ASSISTANT}', case when n % 2 = 0 then ${thread("n")} end, '0 * * * *', n % 10 <> 0,
    jsonb_build_object('input', jsonb_build_object('messages', '[]'::jsonb)),
    jsonb_build_object('owner', 'user-' || n / ${THREADS_PER_USER}),
    case when n % 10 <> 0 then now() + interval '1 hour' + n * interval '1 second' end,
    now() - interval '${DAYS} days' + n * interval '1 minute'
  from generate_series(0, ${count - 1}) n`;
