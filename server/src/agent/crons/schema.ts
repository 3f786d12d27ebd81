import { z } from "zod";

import { isoTime, jsonObject, limit, offset, storableText, uuid } from "../../base/http/fields.ts";
import { runBody } from "../runs/schema.ts";

/** Fields of a run body that a cron stores. */
const stored = runBody.pick({
  input: true,
  config: true,
  context: true,
  webhook: true,
  interrupt_before: true,
  interrupt_after: true,
  multitask_strategy: true,
  stream_mode: true,
  stream_subgraphs: true,
  stream_resumable: true,
  durability: true,
  checkpoint_during: true,
});
export const PAYLOAD_FIELDS = Object.keys(stored.shape) as (keyof typeof stored.shape)[];

/** Fields of a run body that a cron's runs cannot have: rejected, never silently dropped. */
const absent = (why: string) =>
  z.null(`cannot be set for crons: ${why}`).optional().describe(`Not available for crons: ${why}.`);
const NOT_OF_CRONS = {
  command: absent("their runs start with input"),
  checkpoint: absent("their runs continue from the thread's state"),
  checkpoint_id: absent("their runs continue from the thread's state"),
  after_seconds: absent("the schedule determines when runs start"),
  feedback_keys: absent("no client waits for their links"),
  langsmith_tracer: absent("their runs are traced like all others"),
  on_completion: absent("use on_run_completed"),
  strict_resume: z
    .literal(false, "cannot be set for crons")
    .nullish()
    .describe("Not available for crons; may only be false."),
};

const payload = stored.extend({
  config: stored.shape.config.refine((config) => config?.configurable?.["checkpoint_id"] == null, {
    path: ["configurable", "checkpoint_id"],
    error: "cannot be set for crons: their runs continue from the thread's state",
  }),
});

const schedule = storableText
  .min(1)
  .max(256)
  .describe("minute, hour, day of month, month, day of week; or @daily etc.");
const timezone = storableText.max(64).describe("IANA time zone name; UTC when absent.");
const onRunCompleted = z.enum(["delete", "keep"]).describe("What happens to the thread of each run when the run ends.");

export const createBody = payload
  .extend({
    ...NOT_OF_CRONS,
    schedule,
    assistant_id: z.string(),
    metadata: jsonObject.nullish(),
    timezone: timezone.nullish(),
    end_time: isoTime.nullish(),
    enabled: z.boolean().nullish(),
    on_run_completed: onRunCompleted.nullish(),
  })
  .meta({ id: "CronCreate" });

/** Missing keys keep their value; null clears fields that may be empty. */
export const patchBody = payload
  .extend({
    ...NOT_OF_CRONS,
    schedule: schedule.nullish(),
    assistant_id: z.string().nullish(),
    metadata: jsonObject.nullish(),
    timezone: timezone.nullish(),
    end_time: isoTime.nullish(),
    enabled: z.boolean().nullish(),
    on_run_completed: onRunCompleted.nullish(),
  })
  .partial()
  .meta({ id: "CronPatch" });

const time = z.iso.datetime({ offset: true });

export const cron = z
  .object({
    cron_id: z.guid(),
    assistant_id: z.guid(),
    thread_id: z.guid().nullable(),
    schedule: z.string(),
    timezone: z.string().nullable(),
    end_time: time.nullable(),
    enabled: z.boolean(),
    on_run_completed: z.enum(["delete", "keep"]),
    payload: jsonObject,
    metadata: jsonObject,
    user_id: z.string().nullable(),
    next_run_date: time.nullable(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Cron" });

const CRON_FIELDS = [
  "cron_id",
  "assistant_id",
  "thread_id",
  "schedule",
  "timezone",
  "end_time",
  "enabled",
  "on_run_completed",
  "payload",
  "metadata",
  "user_id",
  "next_run_date",
  "created_at",
  "updated_at",
  "now",
] as const;

/** A graph's id stands for its default assistant. */
const filter = {
  assistant_id: z.string().nullish(),
  thread_id: uuid.nullish(),
  metadata: jsonObject.nullish(),
  enabled: z.boolean().nullish(),
};

export const searchBody = z
  .object({
    ...filter,
    limit: limit(10),
    offset,
    sort_by: z
      .enum(["cron_id", "assistant_id", "thread_id", "next_run_date", "end_time", "created_at", "updated_at"])
      .nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
    select: z.array(z.enum(CRON_FIELDS)).nullish(),
  })
  .meta({ id: "CronSearch" });

export const countBody = z.object(filter).meta({ id: "CronCount" });

export const cronParams = z.object({ cron_id: uuid });
export const threadParams = z.object({ thread_id: uuid });

export type CronCreate = z.output<typeof createBody>;
export type CronPatch = z.output<typeof patchBody>;
export type CronFilter = z.output<typeof countBody>;
export type CronSearch = z.output<typeof searchBody>;

/** The run that a cron was made to start. */
export const triggered = z.object({ cron_id: z.guid(), run_id: z.guid(), thread_id: z.guid() });
