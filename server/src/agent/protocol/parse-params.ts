import type { z } from "zod";

import { boundedParse } from "../../base/http/bounded-parse.ts";
import { describeIssues } from "../../base/http/errors.ts";
import { invalidArgument } from "./protocol-error.ts";

export function parseParams<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const parsed = boundedParse(schema, params ?? {});
  if (!parsed.success) throw invalidArgument(describeIssues(parsed.error));
  return parsed.data;
}
