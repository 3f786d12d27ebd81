/** Runs as clients send them, for tests of code that processes them. */
import { uuid7 } from "../src/base/ids.ts";
import type { Call } from "./call.ts";

export interface SampleRun extends Record<string, unknown> {
  id: string;
  name: string;
  run_type: string;
  start_time: string;
  trace_id: string;
  dotted_order: string;
  session_name: string;
}

let clock = Date.UTC(2026, 9, 1);

/** Returns an unused time, ISO text with six digits. */
export const nextInstant = (ms = 1000): string => microseconds((clock += ms));

export const microseconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 23)}000Z`;

/** Returns a run below `parent`, or the root of a trace. It ends `seconds` after its start, unless that is null. */
export function sampleRun(
  session_name: string,
  fields: Partial<SampleRun> = {},
  { parent, seconds = 1 }: { parent?: SampleRun; seconds?: number | null } = {},
): SampleRun {
  const id = fields.id ?? uuid7();
  const start_time = fields.start_time ?? nextInstant();
  const segment = `${start_time.replace(/[-:.Z]/g, "")}Z${id}`;
  return {
    name: "sample",
    run_type: "chain",
    inputs: { question: `of ${id}` },
    session_name,
    start_time,
    ...(seconds !== null && {
      end_time: microseconds(Date.parse(start_time) + seconds * 1000),
      outputs: { answer: 42 },
    }),
    ...(parent && { parent_run_id: parent.id }),
    ...fields,
    id,
    trace_id: parent?.trace_id ?? id,
    dotted_order: parent ? `${parent.dotted_order}.${segment}` : segment,
  };
}

/** Sends runs as one batch; they can be queried when it resolves. */
export async function sendRuns(call: Call, runs: SampleRun[], headers: Record<string, string> = {}): Promise<void> {
  const { status, text } = await call("POST", "/runs/batch", { post: runs }, headers);
  if (status !== 202) throw new Error(`the batch was answered with ${status}: ${text}`);
}
