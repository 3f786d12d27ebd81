import { createMiddleware } from "langchain";

import { step } from "./steps.ts";

/**
 * Middleware of `createAgent` that makes each tool call a step: a retry of the run gets its stored result. In a tool,
 * `idempotencyKey()` is the key of the call. Tools that only read can be left out.
 * @param names tools that are steps. Default: all.
 */
export const stepTools = (names?: string[]) =>
  createMiddleware({
    name: "StepTools",
    wrapToolCall: (request, handler) => {
      const { name, id } = request.toolCall;
      if (names && !names.includes(name)) return handler(request);
      return step(`${name} ${id}`, () => handler(request));
    },
  });
