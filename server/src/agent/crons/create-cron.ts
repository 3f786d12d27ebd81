import type { Principal } from "../../base/auth/principal.ts";
import { databaseNow } from "../../base/db/database-now.ts";
import { notFound, unprocessable } from "../../base/errors.ts";
import { uuid7 } from "../../base/ids.ts";
import { resolveAssistantId, unknownAssistant } from "../project/assistant-id.ts";
import { toAuthUser } from "../custom-auth/access.ts";
import { mayUseAssistant } from "../custom-auth/authorize-run.ts";
import { isThreadPermitted } from "../custom-auth/sql.ts";
import type { AgentDeps } from "../deps.ts";
import { checkLanguage, checkOptions, runConfigurable } from "../runs/create-run.ts";
import { threadExists } from "../runs/sql.ts";
import { nextDate, readSchedule } from "./schedule.ts";
import { type CronCreate, type CronPatch, PAYLOAD_FIELDS } from "./schema.ts";
import { insertCron, lockCron, updateCron } from "./sql.ts";

interface Caller {
  headers: Headers;
  principal: Principal;
}

const unknownThread = (id: string) => notFound(`Thread with ID ${id} not found`);
export const unknownCron = (id: string) => notFound(`Cron with ID ${id} not found`);

/**
 * Stores a schedule. Rejects what would be rejected for a run.
 * @param threadId null: a new thread for each run
 * @returns its JSON
 */
export async function createCron(
  deps: AgentDeps,
  threadId: string | null,
  body: CronCreate,
  caller: Caller,
): Promise<string> {
  const { sql, access } = deps;
  readSchedule(body.schedule, body.timezone ?? null);
  checkOptions(deps, body);
  const assistantId = await usableAssistant(deps, body.assistant_id, caller.principal);
  const cronId = uuid7();
  const payload: Record<string, unknown> = { ...pickPayload(body), config: cronConfig(deps, body.config, caller) };
  // handlers may change what is stored
  const authValue = {
    cron_id: cronId,
    thread_id: threadId,
    assistant_id: assistantId,
    schedule: body.schedule,
    timezone: body.timezone ?? null,
    end_time: body.end_time ?? null,
    enabled: body.enabled ?? true,
    metadata: body.metadata ?? {},
    payload,
  };
  await access.ask(caller.principal, "crons:create", authValue);
  if (threadId !== null) {
    const run = {
      thread_id: threadId,
      assistant_id: assistantId,
      metadata: authValue.metadata,
      kwargs: authValue.payload,
    };
    const sees = await access.ask(caller.principal, "threads:create_run", run);
    const there = sees.length > 0 ? isThreadPermitted(sql, threadId, sees) : threadExists(sql, threadId);
    if (!(await there)) throw unknownThread(threadId);
    await checkLanguage(deps, threadId, assistantId);
  }
  const { timezone, enabled } = authValue;
  const schedule = readSchedule(authValue.schedule, timezone);
  const endTime = authValue.end_time ? parseEndTime(authValue.end_time) : null;
  const wire = await insertCron(sql, {
    cronId,
    assistantId,
    threadId,
    schedule: authValue.schedule.trim(),
    timezone,
    endTime,
    enabled,
    onRunCompleted: body.on_run_completed ?? "delete",
    payload: authValue.payload,
    metadata: authValue.metadata,
    userId: access.isOn ? toAuthUser(caller.principal).identity : caller.principal.actor.userId,
    next: enabled ? nextDate(schedule, await databaseNow(sql), endTime) : null,
  });
  if (wire === undefined) throw threadId === null ? unknownAssistant(body.assistant_id) : unknownThread(threadId);
  deps.crons.wake();
  return wire;
}

/** Updates the given fields. New times count from now; no missed occurrence is made up for. */
export async function patchCron(deps: AgentDeps, id: string, body: CronPatch, caller: Caller): Promise<string> {
  checkOptions(deps, body);
  const assistantId = body.assistant_id ? await usableAssistant(deps, body.assistant_id, caller.principal) : undefined;
  const wire = await deps.sql.begin(async (tx) => {
    const cron = await lockCron(tx, id);
    if (!cron) throw unknownCron(id);
    if (assistantId !== undefined) await checkLanguage({ ...deps, sql: tx }, cron.thread_id, assistantId);
    cron.assistant_id = assistantId ?? cron.assistant_id;
    cron.payload = { ...cron.payload, ...pickPayload(body) };
    if (body.config !== undefined) cron.payload["config"] = cronConfig(deps, body.config, caller);
    cron.metadata = { ...cron.metadata, ...body.metadata };
    cron.on_run_completed = body.on_run_completed ?? cron.on_run_completed;
    const timed = [body.schedule ?? undefined, body.timezone, body.end_time, body.enabled ?? undefined];
    if (timed.some((field) => field !== undefined)) {
      cron.schedule = body.schedule?.trim() ?? cron.schedule;
      if (body.timezone !== undefined) cron.timezone = body.timezone;
      if (body.end_time !== undefined) cron.end_time = body.end_time === null ? null : parseEndTime(body.end_time);
      cron.enabled = body.enabled ?? cron.enabled;
      const schedule = readSchedule(cron.schedule, cron.timezone);
      cron.next_run_date = cron.enabled ? nextDate(schedule, await databaseNow(tx), cron.end_time) : null;
    }
    return updateCron(tx, cron);
  });
  deps.crons.wake();
  return wire;
}

async function usableAssistant(deps: AgentDeps, idOrGraph: string, principal: Principal): Promise<string> {
  const id = resolveAssistantId(deps.project, idOrGraph);
  if (id === undefined || !(await mayUseAssistant(deps, principal, id))) throw unknownAssistant(idOrGraph);
  if (idOrGraph in deps.project.graphs) deps.hosts.checkGraph(idOrGraph);
  const found = await deps.sql`select 1 from assistants where assistant_id = ${id}`;
  if (found.length === 0) throw unknownAssistant(idOrGraph);
  return id;
}

const pickPayload = (body: CronCreate | CronPatch): Record<string, unknown> =>
  Object.fromEntries(PAYLOAD_FIELDS.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));

/** Adds the creator's headers and identity to the config of its runs. */
function cronConfig(deps: AgentDeps, config: CronCreate["config"], { headers, principal }: Caller) {
  return { ...config, configurable: runConfigurable(deps, { config, headers, principal }) };
}

/** Parses a time. Postgres supports years that Date does not. */
function parseEndTime(iso: string): Date {
  const date = new Date(iso.replace(" ", "T"));
  if (Number.isNaN(date.getTime())) throw unprocessable(`Invalid end_time "${iso}".`);
  return date;
}
