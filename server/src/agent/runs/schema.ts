import { z } from "zod";

import { isUuid } from "../../base/ids.ts";
import { jsonObject, queryFlag, uuid } from "../../base/http/fields.ts";
import { parseJson } from "../../base/json-structure.ts";
import { runConfigSection } from "../project/queue-config.ts";
import { webhook } from "../webhooks/schema.ts";

/** Stream modes of LangGraph. */
export const STREAM_MODES = [
  "values",
  "messages",
  "messages-tuple",
  "updates",
  "events",
  "tasks",
  "checkpoints",
  "debug",
  "custom",
  "tools",
] as const;

const streamMode = z.enum(STREAM_MODES);
const send = z.object({ node: z.string(), input: z.unknown().optional() });

/** An empty one is none: on that, the hosts and the interrupts of the thread (questions.sql) must agree. */
export const command = z
  .object({
    update: z.union([jsonObject, z.array(z.tuple([z.string(), z.unknown()]))]).nullish(),
    resume: z.unknown().optional(),
    goto: z.union([z.string(), send, z.array(z.union([z.string(), send]))]).nullish(),
  })
  .nullish()
  .transform((given) => (given && Object.keys(given).length > 0 ? given : undefined));

/** UUIDs are compared without regard to case, and stored in lower case. */
export const checkpointId = z.string().transform((id) => (isUuid(id) ? id.toLowerCase() : id));

const checkpointSchema = z.object({
  checkpoint_id: checkpointId.nullish(),
  checkpoint_ns: z.string().nullish(),
  checkpoint_map: jsonObject.nullish(),
});

const readConfigurable = (configurable: Record<string, unknown>): Record<string, unknown> =>
  typeof configurable["checkpoint_id"] === "string"
    ? { ...configurable, checkpoint_id: checkpointId.parse(configurable["checkpoint_id"]) }
    : configurable;

const interruptNodes = z.union([z.literal("*"), z.array(z.string())]).nullish();

/** `config` of a run or an assistant. Known keys are validated, others kept. */
export const runConfig = z
  .looseObject({
    // within the limits beyond which a trace platform would reject the trace
    tags: z.array(z.string()).max(1000).nullish(),
    run_name: z.string().max(4096).nullish(),
    metadata: jsonObject.nullish(),
    recursion_limit: z.int().min(1).nullish(),
    max_concurrency: z.int().min(1).nullish(),
    configurable: jsonObject.transform(readConfigurable).nullish(),
    heddle: runConfigSection.nullish(),
  })
  .meta({ id: "Config" });

/** Run-create body. Unknown keys are dropped. */
export const runBody = z
  .object({
    assistant_id: z.string().describe("Graph id or UUID of the assistant."),
    input: z.unknown().optional().describe("null or absent: continue from the thread's state."),
    command: command.describe("Resume, update or redirect instead of new input."),
    config: runConfig.nullish(),
    context: z.unknown().optional(),
    metadata: jsonObject.nullish(),
    checkpoint_id: checkpointId.nullish(),
    checkpoint: checkpointSchema.nullish(),
    interrupt_before: interruptNodes,
    interrupt_after: interruptNodes,
    stream_mode: z.union([streamMode, z.array(streamMode)]).nullish(),
    stream_subgraphs: z.boolean().nullish(),
    stream_resumable: z.boolean().nullish(),
    multitask_strategy: z.enum(["reject", "rollback", "interrupt", "enqueue"]).nullish(),
    on_disconnect: z.enum(["cancel", "continue"]).nullish(),
    on_completion: z.enum(["delete", "keep", "complete", "continue"]).nullish(),
    if_not_exists: z.enum(["reject", "create"]).nullish(),
    after_seconds: z.number().min(0).max(31_536_000).nullish(),
    durability: z.enum(["sync", "async", "exit"]).nullish(),
    checkpoint_during: z.boolean().nullish().describe("Deprecated: false means durability exit."),
    langsmith_tracer: z
      .object({ project_name: z.string().max(1024).nullish(), example_id: uuid.nullish() })
      .nullish()
      .describe("Project and example for the run's trace."),
    webhook: webhook.nullish(),
    feedback_keys: z
      .array(z.string().min(1).max(180))
      .max(100)
      .nullish()
      .describe("Issues one feedback link per key, sent in the event `feedback` and in the result as `__feedback__`."),
    strict_resume: z
      .boolean()
      .nullish()
      .describe(
        "Rejects a `command.resume` that is an empty map, or a plain value unless exactly one interrupt is pending.",
      ),
  })
  .meta({ id: "RunCreate" });
export type RunBody = z.output<typeof runBody>;

export const runBatchBody = z.array(runBody).min(1).max(1000);

export const runSchema = z
  .object({
    run_id: z.uuid(),
    thread_id: z.uuid(),
    assistant_id: z.uuid(),
    created_at: z.string(),
    updated_at: z.string(),
    status: z.enum(["pending", "running", "success", "error", "timeout", "interrupted"]),
    metadata: jsonObject,
    kwargs: jsonObject,
    multitask_strategy: z.enum(["reject", "rollback", "interrupt", "enqueue"]),
    error: z.object({ error: z.string(), message: z.string() }).loose().nullable(),
    cancel_reason: z.string().nullable(),
    discarded_interrupts: z
      .array(z.string())
      .nullable()
      .describe("Ids of the interrupts that were pending on the thread and that the run's new input discards."),
    stream_incomplete: z
      .string()
      .optional()
      .describe("Why the run's stream lacks frames. Absent if no frames are known to be missing."),
  })
  .meta({ id: "Run" });

export const threadParams = z.object({ thread_id: z.uuid() });
export const threadRunParams = z.object({ thread_id: z.uuid(), run_id: z.uuid() });
export const runParams = z.object({ run_id: z.uuid() });

export const cancelQuery = z.object({
  wait: queryFlag,
  action: z.enum(["interrupt", "rollback"]).default("interrupt"),
  reason: z.string().max(1000).optional(),
});

export const joinQuery = z.object({ cancel_on_disconnect: queryFlag });

/** Namespaces of a stream's events: a single one, a JSON array, or a repeated parameter. `""` is the root graph's. */
const namespaces = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((value, context) => {
    if (value === undefined) return undefined;
    const parsed = z
      .array(z.string().max(4096))
      .min(1)
      .max(100)
      .safeParse(typeof value === "string" && value.startsWith("[") ? parseList(value) : [value].flat());
    if (parsed.success) return parsed.data;
    context.addIssue({ code: "custom", message: "must be a namespace or a JSON array of namespaces" });
    return z.NEVER;
  })
  .describe('Only events of these namespaces, "" for the root graph; a node\'s name matches all of its tasks.');

export const streamQuery = z.object({ namespace: namespaces });

/** `stream_mode`: a single mode, a JSON array, or a repeated parameter. */
export const joinStreamQuery = z.object({
  cancel_on_disconnect: queryFlag,
  namespace: namespaces,
  checkpoint_id: uuid
    .optional()
    .describe(
      "Only events after this checkpoint, whose state the caller has already; the whole run if it is not one of " +
        "the run's newest. A Last-Event-ID other than -1 takes precedence.",
    ),
  stream_mode: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((value, context) => {
      const text = value === undefined ? [] : typeof value === "string" ? parseList(value) : value;
      const parsed = z.array(streamMode).safeParse(text);
      if (parsed.success) return parsed.data;
      context.addIssue({ code: "custom", message: `must be stream modes: ${STREAM_MODES.join(", ")}` });
      return z.NEVER;
    }),
});

function parseList(text: string): unknown {
  if (!text.startsWith("[")) return text === "" ? [] : text.split(",");
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

const metadataFilter = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined || text === "") return undefined;
    try {
      const value = parseJson(text);
      if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
    } catch {
      // reported by the issue below
    }
    context.addIssue({ code: "custom", message: "must be a JSON object" });
    return z.NEVER;
  });

export const listQuery = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(10),
  offset: z.coerce.number().int().min(0).max(2_147_483_647).default(0),
  status: z.enum(["pending", "running", "success", "error", "timeout", "interrupted"]).optional(),
  metadata: metadataFilter,
  /** A single name, a JSON array, or a repeated parameter. Unknown names select nothing. */
  select: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((value, context) => {
      if (typeof value !== "string" || !value.startsWith("[")) return value === undefined ? value : [value].flat();
      const parsed = z.array(z.string()).safeParse(parseList(value));
      if (parsed.success) return parsed.data;
      context.addIssue({ code: "custom", message: "must be a JSON array of names" });
      return z.NEVER;
    }),
});

/** Exactly one form: by status, or by thread and run ids. */
export const cancelManyBody = z.union([
  z.object({ status: z.enum(["pending", "running", "all"]) }).strict(),
  z.object({ thread_id: z.uuid(), run_ids: z.array(z.uuid()).min(1).max(1000) }).strict(),
]);
