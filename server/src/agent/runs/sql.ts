import { sealError, sealKwargs, sealState } from "../../../../host-kit/src/sealed-json.ts";
import type { AccessCondition } from "../../base/auth/principal.ts";
import { sealed } from "../../base/db/sealed-values.ts";
import type { Sql, Transaction } from "../../base/db/connect.ts";
import type { FinishedRun, FinishOutcome, RunStatus } from "../streams/finished-run.ts";
import { leftInterrupts } from "../streams/sql.ts";
import { ALL, permits } from "../custom-auth/conditions.ts";

export type MultitaskStrategy = "reject" | "enqueue" | "interrupt" | "rollback";
export type CancelAction = "interrupt" | "rollback" | "timeout";

/** JSON texts are bound as text and cast, so that they are passed on unparsed. */
export interface NewRun {
  runId: string;
  threadId: string;
  assistantId: string;
  kwargs: string;
  metadata: string;
  strategy: MultitaskStrategy;
  createThread: boolean;
  afterSeconds: number;
  /** Whether the thread is deleted when the run ends. */
  temporary: boolean;
  /** Whether the answer contains the run in wire format. */
  describe: boolean;
  serverId: string;
  claim: boolean;
  /** JSON text of the interrupts that a resume could answer when it was first sent; absent in the first attempt. */
  asked?: string | null;
  /** First frame of the stream, if it is stored: written with the run when that starts at once. */
  firstFrame?: string | null;
}

export interface CreatedRun {
  outcome:
    | "created"
    | "exists"
    | "no_assistant"
    | "no_thread"
    | "busy"
    | "waits_for_itself"
    | "queue_full"
    | "locked"
    | "unknown_interrupt";
  /**
   * JSON text of the run where `describe` is set; otherwise only of its `discarded_interrupts`, if any.
   * `unknown_interrupt`: the reason. `queue_full`: the key and its limit. `locked`: the interrupts that a resume could answer, for `asked` of the next
   * attempt.
   */
  run: string | null;
  graph_id: string;
  claimed: boolean;
  /** JSON text, merged with assistant and thread; for claimed runs only. */
  kwargs: string;
  fresh_thread: boolean;
  /** The thread's newest checkpoint, if the run starts at once and nothing else has been written since. */
  head: string | null;
  /** Runs cancelled by the multitask strategy, including the running one. */
  cancelled: string[];
  /** Whether `firstFrame` was written. */
  metadataStored?: boolean;
}

/**
 * Creates several runs in the given order; callers sort by thread, so that concurrent statements lock in the same
 * order. Without `wait`, a thread locked by another transaction yields `locked`, so that the other runs do not wait for
 * it.
 */
export async function createRuns(sql: Sql, runs: NewRun[], wait = true): Promise<CreatedRun[]> {
  // a cheap first test; the database decides
  const mayResume = runs.map((r) => String(r.kwargs.includes('"resume"')));
  return sql<CreatedRun[]>`
    select c.*,
           -- a frame that lists discarded interrupts differs from the caller's
           case when c.claimed and u.first_frame is not null and position('"questions": {' in c.kwargs) = 0
                then (select k.outcome = 'stored'
                      from keep_frames(u.run_id, u.thread_id, 1, 0, 1, u.first_frame, null, null) k)
                else false end as "metadataStored"
    from unnest(
      ${runs.map((r) => r.runId)}::uuid[], ${runs.map((r) => r.threadId)}::uuid[],
      ${runs.map((r) => r.assistantId)}::uuid[], ${runs.map((r) => sealed(sql, r.kwargs, (cipher, text) => sealKwargs(cipher, text, r.threadId)))}::text[],
      ${runs.map((r) => r.metadata)}::text[], ${runs.map((r) => r.strategy)}::text[],
      ${runs.map((r) => String(r.createThread))}::text[]::boolean[], ${runs.map((r) => r.afterSeconds)}::float8[],
      ${runs.map((r) => String(r.temporary))}::text[]::boolean[],
      ${runs.map((r) => r.serverId)}::uuid[], ${runs.map((r) => String(r.claim))}::text[]::boolean[],
      ${runs.map((r) => String(r.describe))}::text[]::boolean[],
      ${mayResume}::text[]::boolean[], ${runs.map((r) => r.asked ?? null)}::text[],
      ${runs.map((r) => r.firstFrame ?? null)}::text[]
    ) with ordinality as u(run_id, thread_id, assistant_id, kwargs, metadata, strategy, create_thread, after, temporary,
                           server, claim, describe, may_resume, asked, first_frame, n)
    cross join lateral accept_run(u.run_id, u.thread_id, u.assistant_id,
                                  case when not u.may_resume then u.kwargs::jsonb
                                       else u.kwargs::jsonb || jsonb_strip_nulls(jsonb_build_object('asked',
                                              coalesce(u.asked::jsonb, answerable_interrupts(u.thread_id, u.kwargs::jsonb))))
                                  end, u.metadata::jsonb,
                                  u.strategy, u.create_thread, u.after, u.temporary, u.server, u.claim,
                                  u.describe, ${String(wait)}::text::boolean) c
    order by u.n`;
}

export interface ClaimedRun {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  /** null when the assistant was deleted. */
  graph_id: string | null;
  attempt: number;
  failures: number;
  kwargs: string;
  fresh_thread: boolean;
  cancel_action: CancelAction | null;
  /** Seconds for which the run could have started; null for later attempts. */
  waited: number | null;
}

/** The run as it was before the claim, whose effect the statement's snapshot does not show. */
const WAITED = `case when c.attempt = 1 then (
  select extract(epoch from clock_timestamp() - waits_since(r)) from runs r
  where r.run_id = c.run_id) end::float8 as waited`;

export function claimRuns(sql: Sql, serverId: string, limit: number): Promise<ClaimedRun[]> {
  return sql<ClaimedRun[]>`select c.*, ${sql.unsafe(WAITED)} from claim_runs(${serverId}, ${limit}) c`;
}

/** Claims as `claimRuns` does, but of the runs of the last `leftOverMs` at most the server's share (`claim_share`). */
export function claimShare(sql: Sql, serverId: string, limit: number, leftOverMs: number): Promise<ClaimedRun[]> {
  return sql<ClaimedRun[]>`
    select c.*, ${sql.unsafe(WAITED)}
    from claim_runs(${serverId}, claim_share(${serverId}, ${limit}, ${leftOverMs / 1000})) c`;
}

export async function finishRuns(sql: Sql, runs: FinishedRun[], notify: boolean): Promise<FinishOutcome[]> {
  return sql<FinishOutcome[]>`
    select f.outcome, f.waiting from unnest(
      ${runs.map((r) => r.runId)}::uuid[], ${runs.map((r) => r.threadId)}::uuid[],
      ${runs.map((r) => r.attempt)}::int[], ${runs.map((r) => r.outcome)}::text[],
      ${runs.map((r) => sealed(sql, r.error, sealError))}::text[],
      ${runs.map((r) => sealed(sql, r.state, sealState))}::text[], ${runs.map((r) => String(notify && !r.quiet))}::text[]::boolean[]
    ) with ordinality as u(run_id, thread_id, attempt, outcome, error, state, notify, n)
    cross join lateral finish_run(u.run_id, u.thread_id, u.attempt, u.outcome, u.error::jsonb, u.state::jsonb, u.notify) f
    order by u.n`;
}

export async function releaseRun(
  sql: Sql,
  run: { runId: string; attempt: number; blame: boolean; maxFailures: number; reason: string; notify: boolean },
): Promise<{ outcome: RunStatus | "deleted" | "lost"; thread_id: string }> {
  const [row] = await sql<{ outcome: RunStatus | "deleted" | "lost"; thread_id: string }[]>`
    select * from release_run(${run.runId}, ${run.attempt}, ${run.blame}, ${run.maxFailures}, ${run.reason}, ${run.notify})`;
  return row!;
}

export async function cancelRunRow(
  sql: Sql,
  run: { runId: string; threadId: string; action: CancelAction; reason: string | null },
): Promise<{ outcome: "not_found" | "finished" | "cancelled" | "signalled"; server_id: string | null }> {
  const [row] = await sql<
    { outcome: "not_found" | "finished" | "cancelled" | "signalled"; server_id: string | null }[]
  >`
    select * from cancel_run(${run.runId}, ${run.threadId}, ${run.action}, ${run.reason})`;
  return row!;
}

/** Notifies all servers that there may be runs to claim. */
export async function notifyQueue(sql: Sql): Promise<void> {
  await sql`select pg_notify('heddle_queue', '')`;
}

/** Milliseconds until this server's next delayed run, or the next event of runs with flow, is due; null when there is none. */
export async function selectNextDue(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    select extract(epoch from least(
      (select min(available_at) from runs where status = 'pending' and flow is null and available_at > now()),
      (select min(due_at) from run_queue_events where due_at > now())
    ) - now())::float8 * 1000 as ms`;
  return row!.ms;
}

/** Replaces the flow control of graphs; null: none. Runs keep the rules with which they were created. */
export async function putQueueRules(sql: Sql, rules: Record<string, object | null>): Promise<void> {
  const [declared, others] = [true, false].map((is) => Object.keys(rules).filter((id) => (rules[id] !== null) === is));
  await sql`delete from run_queue_rules where graph_id = any(${others!}::text[])`;
  await sql`
    insert into run_queue_rules (graph_id, rules)
    select g, r::jsonb from unnest(${declared!}::text[], ${declared!.map((id) => JSON.stringify(rules[id]))}::text[]) u(g, r)
    on conflict (graph_id) do update set rules = excluded.rules, declared_at = now()
    where run_queue_rules.rules <> excluded.rules`;
}

/** Expires waiting runs while no slot is free, so that no claim does. */
export async function tendQueue(sql: Sql): Promise<void> {
  await sql`select choose_from_lanes('00000000-0000-0000-0000-000000000000', 0)
    where exists (select 1 from run_queue_events where due_at <= now())`;
}

export async function selectRun(sql: Sql, threadId: string | null, runId: string): Promise<string | undefined> {
  const [row] = await sql<{ run: string }[]>`
    select run_wire(r)::text as run from runs r
    where r.run_id = ${runId} and (${threadId}::uuid is null or r.thread_id = ${threadId})`;
  return row?.run;
}

export interface RunState {
  run_id: string;
  thread_id: string;
  status: RunStatus;
  server_id: string | null;
  attempt: number;
  /** JSON texts. */
  error: string | null;
  values: string | null;
  /** The list of questions that the run, its thread's last, left to answer. */
  interrupts: string | null;
  /** Feedback links, once the run is final. */
  links: string | null;
}

/** State of a run, for its readers. */
export async function selectRunState(sql: Sql, threadId: string | null, runId: string): Promise<RunState | undefined> {
  const [row] = await sql<RunState[]>`
    select r.run_id, r.thread_id, r.status, r.server_id, r.attempt, r.error::text as error,
           case when r.status not in ('pending', 'running') then thread_values(t.thread_id, t.values, t.value_lists)::text end as values,
           ${leftInterrupts(sql)} as interrupts,
           case when r.status not in ('pending', 'running') then (r.kwargs -> 'feedback_urls')::text end as links
    from runs r join threads t on t.thread_id = r.thread_id
    where r.run_id = ${runId} and (${threadId}::uuid is null or r.thread_id = ${threadId})`;
  return row;
}

/** Newest first. Index runs_by_thread. */
export async function selectRuns(
  sql: Sql,
  threadId: string,
  filter: { status?: RunStatus | undefined; metadata?: object | undefined; limit: number; offset: number },
): Promise<string> {
  const [row] = await sql<{ runs: string }[]>`
    select coalesce(json_agg(run_wire(r)), '[]')::text as runs from (
      select * from runs
      where thread_id = ${threadId}
        ${filter.status ? sql`and status = ${filter.status}` : sql``}
        ${filter.metadata ? sql`and metadata @> ${JSON.stringify(filter.metadata)}::text::jsonb` : sql``}
      order by seq desc limit ${filter.limit} offset ${filter.offset}
    ) r`;
  return row!.runs;
}

export async function checkpointExists(sql: Sql, threadId: string, checkpointId: string): Promise<boolean> {
  const rows =
    await sql`select 1 from checkpoints where thread_id = ${threadId} and checkpoint_id = ${checkpointId} limit 1`;
  return rows.length > 0;
}

/** Ids of unfinished runs, for cancel-many. */
export async function selectCancellable(
  sql: Sql,
  filter: { threadId?: string | undefined; runIds?: string[] | undefined; statuses: ("pending" | "running")[] },
  sees: readonly AccessCondition[] = ALL,
): Promise<{ run_id: string; thread_id: string }[]> {
  return sql<{ run_id: string; thread_id: string }[]>`
    select run_id, thread_id from runs
    where status = any(${filter.statuses})
      ${sees.length > 0 ? sql`and exists (select 1 from threads t where t.thread_id = runs.thread_id and ${permits(sql, "t.metadata", sees)})` : sql``}
      ${filter.threadId ? sql`and thread_id = ${filter.threadId}` : sql``}
      ${filter.runIds ? sql`and run_id = any(${filter.runIds}::uuid[])` : sql``}
    order by seq limit 10000`;
}

/** Deletes a finished run with its checkpoints. Deletes nothing when it has not finished. */
export async function deleteFinishedRun(
  sql: Sql,
  threadId: string,
  runId: string,
): Promise<"deleted" | "unfinished" | "not_found"> {
  return sql.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${threadId} for update`;
    const [run] = await tx<{ status: RunStatus }[]>`
      select status from runs where run_id = ${runId} and thread_id = ${threadId}`;
    if (!run) return "not_found" as const;
    if (run.status === "pending" || run.status === "running") return "unfinished" as const;
    await tx`select delete_run_checkpoints(${threadId}, ${runId})`;
    await tx`delete from runs where run_id = ${runId}`;
    return "deleted" as const;
  });
}

/**
 * Writes the thread's row as read by a graph host, unless a run owns the thread, whose end will write it.
 * @param checkpointId the checkpoint of the state; empty: the thread has none
 * @returns false when another checkpoint is the newest, and nothing was written
 */
export async function updateThreadHead(
  sql: Sql,
  threadId: string,
  checkpointId: string,
  state: string,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    await tx`select 1 from threads where thread_id = ${threadId} for update`;
    // a separate statement, so that it sees commits made while the first one waited
    const [newest] = await tx<{ checkpoint_id: string }[]>`
      select checkpoint_id from checkpoints where thread_id = ${threadId} and checkpoint_ns = ''
      order by checkpoint_id desc limit 1`;
    if ((newest?.checkpoint_id ?? "") !== checkpointId) return false;
    await writeThreadHead(tx, threadId, sealed(tx, state, sealState));
    return true;
  });
}

async function writeThreadHead(sql: Transaction, threadId: string, state: string): Promise<void> {
  await sql`select write_thread_head(${threadId}, ${state}::text::jsonb)`;
  // a webhook may be waiting for it
  await sql`
    update webhook_deliveries d
    set state = coalesce(${state}::text::jsonb -> 'values', d.state), state_due = false, available_at = now()
    where d.thread_id = ${threadId} and d.state_due and d.attempts = 0
      and not exists (select 1 from runs r where r.thread_id = d.thread_id and r.started_at > d.created_at)`;
}

/** Lets webhooks wait another 15 s for the thread's state; afterwards they are sent without it. */
export async function holdWebhooksForState(sql: Sql, threadId: string): Promise<void> {
  await sql`
    update webhook_deliveries set available_at = now() + interval '15 s'
    where thread_id = ${threadId} and state_due and attempts = 0`;
}

/** A run that is running under a server, according to its row. */
export interface RunningRow {
  run_id: string;
  attempt: number;
  cancel_action: CancelAction | null;
}

export async function threadExists(sql: Sql, id: string): Promise<boolean> {
  return (await sql`select 1 from threads where thread_id = ${id}`).length > 0;
}

export async function selectThreadGraph(sql: Sql, threadId: string): Promise<string | undefined> {
  const [row] = await sql<{ graph_id: string | null }[]>`
    select metadata ->> 'graph_id' as graph_id from threads where thread_id = ${threadId}`;
  return row?.graph_id ?? undefined;
}

export async function selectCancelRequest(
  sql: Sql,
  runId: string,
): Promise<{ cancel_action: CancelAction | null; cancel_reason: string | null } | undefined> {
  const [row] = await sql<{ cancel_action: CancelAction | null; cancel_reason: string | null }[]>`
    select cancel_action, cancel_reason from runs where run_id = ${runId}`;
  return row;
}

/** A run traced by a process that is gone. */
export interface TracedRun {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  graph_id: string | null;
  attempt: number;
  /** A RunKwargs as JSON text. */
  kwargs: string;
  /** Start of its last attempt, as ISO 8601 in UTC. */
  started_at: string;
}

/** Lists running runs of servers without a row. */
export function selectOrphans(sql: Sql): Promise<TracedRun[]> {
  return sql<TracedRun[]>`
    select ${sql.unsafe(TRACED)} from runs r left join assistants a on a.assistant_id = r.assistant_id
    where r.status = 'running' and not exists (select 1 from servers s where s.server_id = r.server_id) limit 1000`;
}

/** A run that waits for another attempt; undefined before its first attempt. */
export async function selectRetried(sql: Sql, runId: string): Promise<TracedRun | undefined> {
  const [row] = await sql<TracedRun[]>`
    select ${sql.unsafe(TRACED)} from runs r left join assistants a on a.assistant_id = r.assistant_id
    where r.run_id = ${runId} and r.status = 'pending' and r.attempt > 0`;
  return row;
}

/** Columns needed to close a trace (close-trace.ts). */
const TRACED = `r.run_id, r.thread_id, r.assistant_id, a.graph_id, r.attempt, r.kwargs::text as kwargs,
  to_char(coalesce(r.started_at, r.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as started_at`;

/**
 * Returns the graph of a thread's state, or of its runs that have not ended, and the graph of an assistant; undefined
 * if either is missing or the thread has neither.
 */
export async function selectGraphs(
  sql: Sql | Transaction,
  threadId: string,
  assistantId: string,
): Promise<{ of_thread: string; of_assistant: string } | undefined> {
  const [row] = await sql<{ of_thread: string; of_assistant: string }[]>`
    select t.metadata ->> 'graph_id' as of_thread, a.graph_id as of_assistant
    from threads t, assistants a
    where t.thread_id = ${threadId} and a.assistant_id = ${assistantId} and t.metadata ->> 'graph_id' is not null
      and (exists (select 1 from checkpoints c where c.thread_id = t.thread_id::text)
        or exists (select 1 from runs r where r.thread_id = t.thread_id and r.status in ('pending', 'running')))`;
  return row;
}
