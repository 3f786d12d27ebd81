import { z } from "zod";

import { queryLimit, uuid } from "../../base/http/fields.ts";

/** Reasons why a run waits. Heddle's own extension; peers do not report them. */

export const REASONS = [
  "starts_later",
  "thread_busy",
  "behind_another",
  "no_server_has_graph",
  "no_free_slot",
] as const;

export const queueQuery = z.object({ limit: queryLimit(100) });

const time = z.string();

const waitingRun = z
  .object({
    run_id: uuid,
    thread_id: uuid,
    assistant_id: uuid,
    graph_id: z.string().nullable(),
    created_at: time,
    available_at: time.describe("Not started before"),
    attempt: z.int().describe("Attempts that there were"),
    reason: z.enum(REASONS).describe("Why it does not run: the first of these that holds"),
    waits_for: uuid.nullable().describe("The run that has its thread, or is before it"),
  })
  .meta({ id: "WaitingRun" });

const runningRun = z
  .object({
    run_id: uuid,
    thread_id: uuid,
    assistant_id: uuid,
    graph_id: z.string().nullable(),
    server_id: uuid.nullable(),
    started_at: time.nullable().describe("Of its first attempt"),
    attempt: z.int(),
    failures: z.int().describe("Attempts that ended with their graph host since its last checkpoint"),
    cancelling: z.boolean(),
  })
  .meta({ id: "RunningRun" });

const server = z
  .object({
    server_id: uuid,
    host_name: z.string(),
    started_at: time,
    heartbeat_at: time,
    is_alive: z.boolean().describe("Heard of within its lease"),
    is_this: z.boolean().describe("The one that answers"),
    graphs: z.array(z.string()).nullable(),
    running: z.int(),
  })
  .meta({ id: "QueueServer" });

export const queue = z
  .object({
    at: time,
    slots: z.int().describe("Runs that the answering server executes at once"),
    counts: z.object({ pending: z.int(), running: z.int() }),
    oldest_pending_at: time.nullable().describe("When the run that could start and waits longest was created"),
    servers: z.array(server),
    waiting: z.array(waitingRun).describe("In the order in which they are claimed"),
    running: z.array(runningRun).describe("Longest first"),
  })
  .meta({ id: "Queue" });
export type Queue = z.output<typeof queue>;
