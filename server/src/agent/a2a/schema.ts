import { z } from "zod";

import { jsonObject } from "../../base/http/fields.ts";
import { type Part, stateFrom } from "./generation.ts";

export const assistantParams = z.object({ assistant_id: z.string().max(500) });
export const cardQuery = z.object({
  assistant_id: z.string().max(500).optional().describe("Required if the server has more than one graph."),
});

const text = z.string();
const file = z.object({
  uri: text.optional(),
  bytes: text.optional(),
  name: text.optional(),
  mimeType: text.optional(),
});

/** A part in either generation. */
const part = z
  .object({
    kind: text.optional(),
    text: text.optional(),
    data: z.unknown().optional(),
    file: file.optional(),
    url: text.optional(),
    raw: text.optional(),
    filename: text.optional(),
    mediaType: text.optional(),
  })
  .transform((value, context): Part => {
    if (value.text !== undefined) return { kind: "text", text: value.text };
    if (value.data !== undefined) return { kind: "data", data: value.data };
    if (value.file !== undefined) return { kind: "file", file: value.file as { uri?: string; bytes?: string } };
    if (value.url !== undefined || value.raw !== undefined) {
      const { url: uri, raw: bytes, filename: name, mediaType: mimeType } = value;
      return {
        kind: "file",
        file: {
          ...(uri !== undefined ? { uri } : { bytes: bytes! }),
          ...(name && { name }),
          ...(mimeType && { mimeType }),
        },
      };
    }
    context.addIssue({ code: "custom", message: "must be text, data or a file" });
    return z.NEVER;
  });

const historyLength = z.int().min(0).max(10).nullish();
const historyScope = z.enum(["context", "task"]).nullish();

export const sendParams = z
  .object({
    message: z.object({
      role: z
        .enum(["user", "agent", "ROLE_USER", "ROLE_AGENT"])
        .transform((role) => role.replace("ROLE_", "").toLowerCase()),
      parts: z.array(part).min(1).max(1000),
      messageId: text.min(1),
      contextId: text.nullish(),
      taskId: text.nullish(),
    }),
    configuration: z
      .object({
        blocking: z.boolean().nullish(),
        returnImmediately: z.boolean().nullish(),
        historyLength,
        /** Field names of version 0.3 and 1.0. Push notifications are not supported, as agent cards declare. */
        pushNotificationConfig: z.unknown().optional(),
        taskPushNotificationConfig: z.unknown().optional(),
      })
      .nullish(),
    metadata: jsonObject.nullish(),
    historyScope,
  })
  .loose();
export type SendMessageParams = z.output<typeof sendParams>;

export const taskParams = z.object({ id: z.string(), historyLength, historyScope }).loose();

export const listParams = z
  .object({
    contextId: z.uuid().or(z.literal("")).nullish(),
    status: z
      .string()
      .nullish()
      .transform((value, context) => {
        if (!value || value === "TASK_STATE_UNSPECIFIED") return undefined;
        const state = stateFrom(value);
        if (state === undefined) context.addIssue({ code: "custom", message: `is not a task state: "${value}"` });
        return state;
      }),
    pageSize: z.int().min(1).max(100).nullish(),
    pageToken: z.string().nullish(),
    historyLength,
    historyScope,
    includeArtifacts: z.boolean().nullish(),
  })
  .loose();

export const agentCard = z
  .object({
    name: z.string(),
    description: z.string(),
    url: z.string(),
    version: z.string(),
    protocolVersion: z.string(),
    preferredTransport: z.string(),
    supportedInterfaces: z.array(
      z.object({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
    ),
    capabilities: jsonObject,
    defaultInputModes: z.array(z.string()),
    defaultOutputModes: z.array(z.string()),
    skills: z.array(z.object({ id: z.string(), name: z.string(), description: z.string(), tags: z.array(z.string()) })),
  })
  .meta({ id: "AgentCard" });
