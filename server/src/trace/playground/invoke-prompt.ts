import type { z } from "zod";

import { unprocessable } from "../../base/errors.ts";
import { role } from "../models/message-schema.ts";
import type { invokeBody } from "./experiment-schema.ts";
import { type PromptPart, renderPrompt } from "./prompt.ts";
import { readFormat } from "./render-template.ts";

const TYPES = { system: "system", user: "human", assistant: "ai", tool: "tool" } as const;

/** Renders messages `[role, template]`. `["placeholder", "{history}"]` inserts the messages of a variable. */
export function invokePrompt({ messages, template_format, inputs }: z.output<typeof invokeBody>) {
  const format = readFormat(template_format, "template_format");
  const parts = messages.map(([name, template], i): PromptPart => {
    if (name === "placeholder") {
      return { kind: "placeholder", variable: template.replaceAll(/[{}]/g, "").trim(), optional: false };
    }
    const read = role.safeParse(name);
    if (!read.success) throw unprocessable(`messages.${i}: the role must be system, human, ai, tool or placeholder`);
    return { kind: "message", message: { role: read.data }, content: template, format };
  });
  const rendered = renderPrompt({ parts, defaults: {} }, inputs);
  return rendered.map(({ role: spoken, content }) => ({ type: TYPES[spoken], content }));
}
