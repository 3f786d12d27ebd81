import { z } from "zod";

import { uuid5 } from "../../base/ids.ts";
import { jsonObject, uuid } from "../../base/http/fields.ts";
import { checkpointId, runBody } from "../runs/schema.ts";

/** Namespace of the ids of threads that clients name by other text than a UUID. */
const THREAD_NAMES = "7d0c1c2e-5a0b-5d43-9f5e-2f1f0f2b8f2d";
const MAX_NAME = 200;

/** Any text names a thread: a UUID itself, other text the UUIDv5 of it. */
export const threadParams = z.object({
  thread_id: z
    .string()
    .min(1)
    .max(MAX_NAME)
    .refine((text) => !text.includes("\0"), "must not contain a null character")
    .describe("A UUID, or other text, which stands for a UUID derived from it. Answers contain the UUID.")
    .transform((text) => (z.guid().safeParse(text).success ? text.toLowerCase() : uuid5(text, THREAD_NAMES))),
});

const channels = z.array(z.string().max(200)).max(100);
const namespaces = z.array(z.array(z.string().max(500)).max(100)).max(1000);
const depth = z.int().min(0);

/** Subscription to events. Unknown keys are dropped, as elsewhere; unknown channels match nothing. */
export const eventStreamBody = z
  .object({
    channels: channels.describe(
      "values, updates, messages, tools, lifecycle, input, checkpoints, tasks, custom, custom:<name>",
    ),
    namespaces: namespaces
      .nullish()
      .describe("Namespace prefixes; a segment without a task id matches every task of that name."),
    depth: depth.nullish().describe("Maximum number of segments after a prefix."),
    since: z.int().min(0).nullish().describe("Only events after this sequence number."),
  })
  .meta({ id: "EventStreamRequest" });

export const subscribeParams = z.object({
  channels: channels.min(1),
  namespaces: namespaces.nullish(),
  depth: depth.nullish(),
});

export const command = z
  .object({ id: z.int().min(0), method: z.string().max(100), params: jsonObject.nullish() })
  .meta({ id: "ProtocolCommand" });
export type Command = z.output<typeof command>;

const ERROR_CODES = [
  "invalid_argument",
  "unknown_command",
  "unknown_error",
  "no_such_run",
  "no_such_subscription",
  "no_such_namespace",
  "no_such_interrupt",
  "no_such_checkpoint",
  "permission_denied",
  "not_supported",
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

const meta = z.object({ thread_id: z.string(), applied_through_seq: z.int() }).partial().optional();

export const commandAnswer = z
  .union([
    z.object({ type: z.literal("success"), id: z.int(), result: jsonObject, meta }),
    z.object({
      type: z.literal("error"),
      id: z.int().nullable(),
      error: z.enum(ERROR_CODES),
      message: z.string(),
      meta,
    }),
  ])
  .meta({ id: "ProtocolAnswer" });
export type CommandAnswer = z.output<typeof commandAnswer>;

const config = jsonObject.nullish();
const metadata = jsonObject.nullish();
const namespace = z.array(z.string()).nullish();

/** Fields of an ordinary run's body. The protocol does not define them; they work as on any run. */
const ordinary = runBody
  .pick({
    context: true,
    interrupt_before: true,
    interrupt_after: true,
    durability: true,
    webhook: true,
    langsmith_tracer: true,
  })
  .partial();
export const ORDINARY_FIELDS = Object.keys(ordinary.shape) as (keyof typeof ordinary.shape)[];

const absent = (why: string) => z.null(`cannot be set for run.start: ${why}`).optional();

export const runStartParams = ordinary.extend({
  assistant_id: z.string().nullish(),
  input: z.unknown().optional(),
  config,
  metadata,
  multitaskStrategy: z.unknown().optional(),
  multitask_strategy: z.unknown().optional(),
  // rejected rather than dropped
  command: absent("answer with input.respond"),
  checkpoint: absent("set config.configurable.checkpoint_id, or use state.fork"),
  checkpoint_id: absent("set config.configurable.checkpoint_id, or use state.fork"),
  feedback_keys: absent("no channel carries their links"),
  after_seconds: absent("runs start immediately"),
});

const response = z.object({ namespace, interrupt_id: z.string().nullish(), response: z.unknown().optional() });
export const respondParams = response.extend({
  responses: z.array(response).max(1000).nullish(),
  update: z.unknown().optional(),
  goto: z.unknown().optional(),
  config,
  metadata,
});

export const injectParams = z.object({
  namespace,
  message: z.object({ role: z.enum(["user", "system"]), content: z.string(), name: z.string().optional() }),
});

export const stateParams = z.object({ namespace, keys: z.array(z.string()).nullish() });

export const listCheckpointsParams = z.object({
  namespace,
  limit: z.int().min(1).max(1000).nullish(),
  before: uuid.nullish(),
});

export const forkParams = z.object({ checkpoint_id: checkpointId, input: z.unknown().optional(), config });

export const treeParams = z.object({ run_id: z.uuid().nullish() });
