import { z } from "zod";

import * as fields from "./fields.ts";

/** Fields of a run that tools request. */
export const WIRE_FIELDS = [
  ..."id name run_type status start_time end_time trace_id parent_run_id dotted_order error inputs outputs".split(" "),
  ..."tags extra total_tokens total_cost feedback_stats thread_id".split(" "),
];

export interface WireRun {
  id: string;
  name: string;
  run_type: string;
  status: string;
  start_time: string;
  end_time?: string | null;
  trace_id: string;
  parent_run_id?: string | null;
  dotted_order: string;
  error?: string | null;
  inputs?: unknown;
  outputs?: unknown;
  tags?: string[] | null;
  extra?: { metadata?: Record<string, unknown> } | null;
  total_tokens?: number;
  total_cost?: string | number | null;
  feedback_stats?: Record<string, unknown> | null;
  thread_id?: string | null;
}

export const shortRunSchema = z.object({
  id: z.string(),
  trace_id: z.string(),
  name: z.string(),
  run_type: z.string(),
  status: z.string(),
  start_time: z.string(),
  latency_seconds: z.number().nullable(),
  total_tokens: z.number().nullable(),
  total_cost_usd: z.number().nullable(),
  thread_id: z.string().nullable(),
  tags: z.array(z.string()),
  metadata: z.unknown(),
  feedback: z.unknown(),
  error: z.unknown(),
  inputs: z.unknown(),
  outputs: z.unknown(),
  clipped: z.array(z.string()).describe("Fields that were cut; read_run_field reads them."),
});

/** Describes a run with values of at most `max` characters. */
export function shortRun(run: WireRun, max: number): z.output<typeof shortRunSchema> {
  const values = {
    error: fields.clip(run.error ?? null, Math.max(max, 200)),
    inputs: fields.clip(run.inputs ?? null, max),
    outputs: fields.clip(run.outputs ?? null, max),
    metadata: fields.clip(run.extra?.metadata ?? {}, Math.max(max, 500)),
  };
  return {
    id: run.id,
    trace_id: run.trace_id,
    name: run.name,
    run_type: run.run_type,
    status: run.status,
    start_time: run.start_time,
    latency_seconds: latencyOf(run),
    total_tokens: run.total_tokens ?? null,
    total_cost_usd: run.total_cost == null ? null : Number(run.total_cost),
    thread_id: run.thread_id ?? null,
    tags: run.tags ?? [],
    metadata: values.metadata.value,
    feedback: run.feedback_stats ?? {},
    error: values.error.value,
    inputs: values.inputs.value,
    outputs: values.outputs.value,
    clipped: Object.entries(values).flatMap(([name, { clipped }]) => (clipped ? [name] : [])),
  };
}

/** Returns seconds; null for a run that has not ended. */
export function latencyOf({ start_time, end_time }: Pick<WireRun, "start_time" | "end_time">): number | null {
  if (end_time == null) return null;
  // times are UTC without a zone
  const at = (time: string) => Date.parse(/Z|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`);
  return Math.round(at(end_time) - at(start_time)) / 1000;
}
