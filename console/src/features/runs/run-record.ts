import type { operations } from "../../api/trace.d.ts";

type Page = operations["post_api_v1_runs_query"]["responses"][200]["content"]["application/json"];

type Named<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };
/** A run as v1 returns it; unselected fields are undefined. */
export type Run = Named<Page["runs"][number]>;
/** Run of a shared trace: without its location. */
export type AnyRun = Omit<Run, "session_id" | "app_path"> & Partial<Pick<Run, "session_id">>;

/** Adds the missing suffix to v1's times, which are UTC (contract trace-platform §0.5). */
export function utc(naive: string): string;
export function utc(naive: string | null | undefined): string | null;
export function utc(naive: string | null | undefined): string | null {
  if (naive == null) return null;
  return /(Z|[+-]\d\d:?\d\d)$/.test(naive) ? naive : `${naive}Z`;
}

/** Returns milliseconds since 1970 with fractions: microseconds matter for short runs. */
export function parseTime(naive: string): number {
  const milliseconds = Date.parse(utc(naive));
  const micros = /\.\d{3}(\d{3})/.exec(naive)?.[1];
  return micros === undefined ? milliseconds : milliseconds + Number(micros) / 1000;
}

type Timed = { start_time: string; end_time?: string | null };

/** Returns milliseconds; null while it runs. */
export const runLatency = ({ start_time, end_time }: Timed): number | null =>
  end_time == null ? null : Math.max(0, parseTime(end_time) - parseTime(start_time));

/** Returns milliseconds until the first token. */
export const timeToFirstToken = ({ start_time, first_token_time }: Pick<Run, "start_time" | "first_token_time">) =>
  first_token_time == null ? null : Math.max(0, parseTime(first_token_time) - parseTime(start_time));

/** Whether the run was stopped on purpose: it may have an error, but did not fail. */
export const wasStopped = (status: string): boolean => status === "interrupted" || status === "cancelled";

export function readMetadata({ extra }: { extra?: unknown }): Record<string, unknown> {
  const { metadata } = (extra ?? {}) as { metadata?: unknown };
  return metadata !== null && typeof metadata === "object" ? (metadata as Record<string, unknown>) : {};
}

/** Returns the model of an LLM run, as LangChain's tracer or the client's own metadata names it. */
export function modelName(run: { extra?: unknown }): string | null {
  const { ls_model_name: named } = readMetadata(run);
  const { invocation_params: params } = (run.extra ?? {}) as { invocation_params?: Record<string, unknown> };
  const found = [named, params?.["model"], params?.["model_name"]].find((value) => typeof value === "string");
  return (found as string | undefined) ?? null;
}

export interface FeedbackStatistics {
  n?: number;
  avg?: number | null;
  values?: Record<string, number>;
}

/** Describes a feedback key for a chip: `helpful 0.67`, `tone friendly ×3`. */
export function describeFeedback(key: string, { n, avg, values }: FeedbackStatistics): string {
  if (avg != null) return `${key} ${Number(avg.toFixed(2))}`;
  const [best, ...others] = Object.entries(values ?? {}).sort(([, a], [, b]) => b - a);
  if (!best) return `${key} ×${n ?? 0}`;
  const many = best[1] > 1 || others.length > 0 ? ` ×${best[1]}` : "";
  return `${key} ${best[0].slice(0, 40)}${many}`;
}
