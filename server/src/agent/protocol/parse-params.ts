import type { z } from "zod";

import { describeIssues } from "../../base/http/errors.ts";
import { invalidArgument } from "./protocol-error.ts";

export function parseParams<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) throw invalidArgument(describeIssues(parsed.error));
  return parsed.data;
}
