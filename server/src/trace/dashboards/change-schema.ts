import { z } from "zod";

import { storableText, timestamp, uuid } from "../../base/http/fields.ts";

/** Own to Heddle: what changed between a period and the one before, and where. */
export const changesBody = z.object({
  session: z.array(uuid).min(1).max(20).describe("Projects"),
  start_time: timestamp,
  end_time: timestamp.nullish().describe("By default now"),
  filter: storableText.max(65_536).nullish().describe("Filter of the traces' roots"),
  max_causes: z.int().min(1).max(20).nullish(),
});
export type ChangesBody = z.output<typeof changesBody>;

const measure = z.object({ n: z.int(), value: z.number().nullable() });

export const cause = z.object({
  dimension: z.enum(["name", "tag", "metadata", "model", "prompt_commit", "revision", "tool", "node"]),
  key: z.string().nullable().describe("Metadata key"),
  value: z.string(),
  same_traces: z
    .array(z.object({ dimension: z.string(), key: z.string().nullable(), value: z.string() }))
    .describe("Other properties of exactly these traces"),
  before: measure.describe("Of the traces with this property, in the previous period"),
  now: measure,
  contribution: z.number().describe("Part of the change that these traces account for, in the unit of the measure"),
  share: z.number().nullable().describe("The same as a part of the whole change"),
  text: z.string(),
  filter: z.string().nullable().describe("Filter of roots that selects the traces"),
  tree_filter: z.string().nullable(),
});
export type Cause = z.output<typeof cause>;

export const change = z.object({
  measure: z.enum(["error_rate", "latency", "cost", "feedback"]),
  feedback_key: z.string().nullable(),
  before: measure,
  now: measure,
  verdict: z.enum(["worse", "better", "same"]).describe("The same: within what chance explains"),
  text: z.string(),
  causes: z.array(cause).describe("By descending contribution to the worsening; empty unless it is worse"),
});
export type Change = z.output<typeof change>;

export const changes = z
  .object({
    start_time: z.string(),
    end_time: z.string(),
    previous_start_time: z.string(),
    traces: z.object({ before: z.int(), now: z.int() }),
    changes: z.array(change),
    events: z
      .array(
        z.object({
          dimension: z.enum(["model", "prompt_commit", "revision"]),
          value: z.string(),
          first_seen: z.string(),
        }),
      )
      .describe("Models, commits of prompts and revisions that occur in the period and not in the previous one"),
  })
  .meta({ id: "DashboardChanges" });
export type Changes = z.output<typeof changes>;

/** Own to Heddle: what begins in a period, as marks in charts. */
export const eventsBody = z.object({
  session: z.array(uuid).min(1).max(100).nullish().describe("Projects; by default all of the workspace"),
  start_time: timestamp,
  end_time: timestamp.nullish().describe("By default now"),
});
export type EventsBody = z.output<typeof eventsBody>;

export const events = z
  .object({
    events: z
      .array(
        z.object({
          dimension: z.literal("revision"),
          value: z.string(),
          session_id: z.guid(),
          session_name: z.string(),
          first_seen: z.iso.datetime({ offset: true }).describe("Start of its first trace"),
        }),
      )
      .describe("At most the 100 latest, in their order"),
  })
  .meta({ id: "DashboardEvents" });
export type Events = z.output<typeof events>;
