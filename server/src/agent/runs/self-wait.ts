/**
 * Rejects waits that would never end: of a run's code for its own run, or for one that begins after it on its thread.
 *
 * Over protocol v2 a run waits by run.start and by the events of its thread; over A2A, by a message in the context of its thread. Over MCP
 * it cannot: each call has its own thread, and an answer to a busy thread is rejected.
 *
 * Graph hosts name the run whose code sends a request to their own server, whatever client sends it
 * (graph-host/src/calling-run.ts, graph-host-python/heddle_host/own_client.py). A remote graph's metadata names it, too,
 * also through other addresses of the server (`waits_for_itself` of runs.sql).
 */
import type { Context } from "hono";

import type { Sql } from "../../base/db/connect.ts";
import { conflict } from "../../base/errors.ts";
import { internalHeader } from "../../base/http/internal-headers.ts";
import { isUuid } from "../../base/ids.ts";

const CALLING_RUN = "x-heddle-calling-run";

/** @param runId the run that is waited for; undefined: those of the thread that begin later */
export async function rejectSelfWait(sql: Sql, c: Context, threadId: string | null, runId?: string) {
  const caller = internalHeader(c, CALLING_RUN);
  if (caller === null || !isUuid(caller)) return;
  const isOwn = caller === runId || (threadId !== null && (await isBehind(sql, caller, threadId, runId ?? null)));
  if (!isOwn) return;
  throw conflict(
    `Run ${caller} is executing${threadId === null ? "" : ` on thread ${threadId}`} and would wait forever for ` +
      `${caller === runId ? "its own end" : runId ? `run ${runId}, which begins after it` : "a run that begins after it"}. ` +
      "Use another thread, or create the run without waiting for it.",
  );
}

async function isBehind(sql: Sql, caller: string, threadId: string, runId: string | null): Promise<boolean> {
  const rows = await sql`
    select 1 from threads t where t.thread_id = ${threadId} and t.running_run_id = ${caller}
      and (${runId}::uuid is null or exists (
        select 1 from runs r where r.run_id = ${runId} and r.thread_id = t.thread_id and r.status = 'pending'))`;
  return rows.length > 0;
}
