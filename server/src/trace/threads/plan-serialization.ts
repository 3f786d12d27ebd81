import type { SerializationPlan } from "../runs/serialize-v1.ts";
import { FIELDS_V2, createPlan } from "../runs/serialize-v2.ts";
import { RUN_TYPES } from "../run-rows/run-types.ts";
import { field, type RunField } from "../runs/run-fields.ts";

/** Properties of a turn that a v2 run has under another name, or not at all. */
const OWN: Record<string, RunField> = {
  latency: FIELDS_V2["latency_seconds"]!,
  // the run type as a number, for old clients
  op: field(["r.run_type"], (row) => String(RUN_TYPES.findIndex((type) => type === row.run_type))),
};

export function planThreadTraces(selects: readonly string[] | undefined): SerializationPlan {
  const names = new Set(["trace_id", ...(selects ?? []).map((name) => name.toLowerCase())]);
  return createPlan([...names].map((name) => [name, OWN[name] ?? FIELDS_V2[name]!]));
}
