import { z } from "zod";

import { queryLimit, uuid } from "../../base/http/fields.ts";

/** Reasons why a run is pending. A Heddle extension: the contract has no equivalent. */
export const REASONS = [
  "starts_later",
  "thread_busy",
  "behind_another",
  "no_server_has_graph",
  "concurrency_limit",
  "throttled",
  "no_free_slot",
] as const;

export const queueQuery = z.object({
  limit: queryLimit(100),
  run_id: uuid.optional().describe("Only this run among the waiting and the running ones, and the waits that it began"),
});

const time = z.string();

const waitingRun = z
  .object({
    run_id: uuid,
    thread_id: uuid,
    assistant_id: uuid,
    graph_id: z.string().nullable(),
    created_at: time,
    available_at: time.describe("Earliest start"),
    attempt: z.int().describe("Attempts so far"),
    reason: z.enum(REASONS).describe("Why the run has not started: the first of these reasons that applies"),
    limited_by: z.string().nullable().describe("The key of flow control whose limit applies, with its value"),
    waiting_seconds: z.number().describe("Time since it was created or became due; 0 before"),
    waits_for: uuid.nullable().describe("The run that occupies the thread, or is ahead of this one in its queue"),
  })
  .meta({ id: "WaitingRun" });

const wait = z
  .object({
    run_id: uuid.nullable().describe("The thread's last run, which has ended as interrupted"),
    thread_id: uuid,
    assistant_id: uuid.nullable(),
    graph_id: z.string().nullable(),
    interrupt_id: z.string(),
    signal: z.string().nullable().describe("Name of the signal that ends the wait; null: only the time does"),
    until: time.nullable().describe("Time that ends the wait; null: only the signal does"),
    since: time.nullable().describe("End of the run"),
    waiting_seconds: z.number().nullable().describe("Time since the end of the run"),
  })
  .meta({ id: "ThreadWait" });

const runningRun = z
  .object({
    run_id: uuid,
    thread_id: uuid,
    assistant_id: uuid,
    graph_id: z.string().nullable(),
    server_id: uuid.nullable(),
    started_at: time.nullable().describe("Start of its first attempt"),
    attempt: z.int(),
    failures: z.int().describe("Attempts lost with their graph host since its last checkpoint"),
    cancelling: z.boolean(),
  })
  .meta({ id: "RunningRun" });

const server = z
  .object({
    server_id: uuid,
    host_name: z.string(),
    started_at: time,
    heartbeat_at: time,
    is_alive: z.boolean().describe("Whether its lease is valid"),
    is_this: z.boolean().describe("Whether this server sent the response"),
    graphs: z.array(z.string()).nullable(),
    slots: z
      .int()
      .nullable()
      .describe("Maximum number of concurrent runs; null for a server of an earlier version or revision"),
    running: z.int(),
  })
  .meta({ id: "QueueServer" });

export const queue = z
  .object({
    at: time,
    slots: z.int().describe("Maximum number of concurrent runs on the server that sent the response"),
    counts: z.object({
      pending: z.int(),
      running: z.int(),
      waits: z.int().describe("Threads' waits for a timer or a signal; they hold no slot"),
    }),
    oldest_pending_at: time
      .nullable()
      .describe("Time from which the run that has waited longest waits: its creation, or when it became due"),
    servers: z.array(server),
    waiting: z.array(waitingRun).describe("In claim order"),
    running: z.array(runningRun).describe("Longest running first"),
    waits: z.array(wait).describe("Waits for a timer or a signal, the next timer first"),
  })
  .meta({ id: "Queue" });
export type Queue = z.output<typeof queue>;
