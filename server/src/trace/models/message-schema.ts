import { z } from "zod";

import { jsonObject } from "../../base/http/fields.ts";

/** Messages as the playground sends and shows them. */

/** Most messages, blocks of a message and tools of a call. */
export const MAX_MESSAGES = 500;
const MAX_BLOCKS = 100;
export const MAX_TOOLS = 128;
/** Characters of one text. */
const MAX_TEXT = 4 * 1024 * 1024;
/** Characters of a file in base64: 20 MiB. */
const MAX_DATA = 28 * 1024 * 1024;

const modelText = z.string().max(MAX_TEXT);

const mediaKind = z.enum(["image", "file", "audio"]);

/** How closely a model looks at an image: OpenAI's `low`, `high` or `auto`. */
const detail = z
  .string()
  .max(32)
  .nullish()
  .transform((value) => value ?? undefined);

const textBlock = z.object({ type: z.literal("text"), text: modelText });
const urlBlock = z.object({
  type: mediaKind,
  url: z
    .string()
    .max(8192)
    .regex(/^https?:\/\//, "must begin with http:// or https://; send other content as data"),
  mime_type: z.string().max(127).optional(),
  detail,
});
const dataBlock = z.object({
  type: mediaKind,
  data: z
    .string()
    .min(1)
    .max(MAX_DATA)
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, "must be base64"),
  mime_type: z.string().regex(/^[a-z]+\/[a-zA-Z0-9.+-]{1,100}$/, "must be a media type: image/png"),
  filename: z.string().max(255).optional(),
  detail,
});

const mediaBlock = z.union([dataBlock, urlBlock]);

const DATA_URL = /^data:([a-z]+\/[a-zA-Z0-9.+-]{1,100});base64,/;

/** OpenAI's form of an image. */
const imageUrlBlock = z
  .object({ type: z.literal("image_url"), image_url: z.union([z.string(), z.object({ url: z.string(), detail })]) })
  .transform(({ image_url: image }) => (typeof image === "string" ? { url: image } : image))
  .transform(({ url, ...more }): z.input<typeof mediaBlock> => {
    const [head = "", mime] = DATA_URL.exec(url) ?? [];
    return mime
      ? { type: "image", data: url.slice(head.length), mime_type: mime, ...more }
      : { type: "image", url, ...more };
  })
  .pipe(mediaBlock);

export const contentBlock = z.union([textBlock, dataBlock, urlBlock, imageUrlBlock]);
export type ContentBlock = z.output<typeof contentBlock>;

export const content = z.union([modelText, z.array(contentBlock).max(MAX_BLOCKS)]);
export type Content = z.output<typeof content>;

export const toolCall = z.object({
  id: z.string().max(256).optional(),
  name: z.string().min(1).max(256),
  args: jsonObject.default({}),
});
export type ToolCall = z.output<typeof toolCall>;

export const role = z
  .enum(["system", "developer", "user", "human", "assistant", "ai", "tool"])
  .transform((name) => ROLES[name]);
const ROLES = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "assistant",
  ai: "assistant",
  tool: "tool",
} as const;

export const message = z
  .object({
    role,
    content,
    tool_calls: z.array(toolCall).max(MAX_TOOLS).optional(),
    tool_call_id: z.string().max(256).optional(),
    name: z.string().max(256).optional(),
  })
  .meta({ id: "PlaygroundMessage" });
export type Message = z.output<typeof message>;

const plainTool = z.object({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ and -"),
  description: z.string().max(20_000).default(""),
  parameters: jsonObject.default({ type: "object", properties: {} }),
});

/** `{name, description, parameters}`, or the same within OpenAI's `{type: "function", function}`. */
export const tool = z.union([
  z.object({ type: z.literal("function"), function: plainTool }).transform((outer) => outer.function),
  plainTool,
]);
export type Tool = z.output<typeof tool>;

/** Model of a call: a connection or a provider, and the model's name. */
export const modelConfiguration = z
  .object({
    connection_id: z.guid().toLowerCase().nullish(),
    provider: z.string().max(64).nullish(),
    model: z
      .string()
      .max(256)
      .regex(/^[\x20-\x7e]+$/, "must be ASCII text")
      .nullish(),
    parameters: jsonObject.default({}),
  })
  .meta({ id: "ModelConfiguration" });
export type ModelConfiguration = z.output<typeof modelConfiguration>;
