import type { z } from "zod";

import { AppError } from "../errors.ts";

/**
 * Values of lists and records that a schema checks one by one. Each takes some microseconds, and an invalid one an issue
 * of half a kilobyte, so a list of a million nulls would take seconds and gigabytes.
 */
const MOST = 100_000;
/** Values that a schema only passes on take a tenth. */
const PASSED_ON = 0.1;

/** Validates what a caller sent. @throws 413 when there are too many values to check */
export function boundedParse<S extends z.ZodType>(schema: S, value: unknown): z.ZodSafeParseResult<z.output<S>> {
  if (remaining(schema as z.core.$ZodType, value, MOST) < 0) {
    throw new AppError(
      413,
      `The request has more than ${MOST} values in its lists and objects. Send fewer in a request.`,
    );
  }
  return schema.safeParse(value);
}

/** Returns how many of `left` values remain after those that the schema checks one by one; negative: too many. */
function remaining(schema: z.core.$ZodType, value: unknown, left: number): number {
  if (value === null || typeof value !== "object" || left < 0) return left;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "array":
      return Array.isArray(value) ? each(def.element, value, value.length, left) : left;
    case "record":
      return each(def.valueType, Object.values(value), Object.keys(value).length, left);
    case "tuple":
      return Array.isArray(value) && def.rest ? each(def.rest, value, value.length, left) : left;
    case "object": {
      const object = value as Record<string, unknown>;
      for (const name in def.shape) {
        if (Object.hasOwn(object, name)) left = remaining(def.shape[name]!, object[name], left);
      }
      // names that the schema does not have are looked at too
      return left - PASSED_ON * Object.keys(object).length;
    }
    case "union":
      for (const option of def.options) left = remaining(option, value, left);
      return left;
    case "intersection":
      return remaining(def.right, value, remaining(def.left, value, left));
    case "pipe": {
      const isPreprocessed = def.in._zod.def.type === "transform";
      return remaining(isPreprocessed ? def.out : def.in, value, left);
    }
    case "lazy":
      return remaining(def.getter(), value, left);
    default:
      return "innerType" in def ? remaining(def.innerType, value, left) : left;
  }
}

const PASSING: ReadonlySet<string> = new Set(["unknown", "any"]);

function each(schema: z.core.$ZodType, values: readonly unknown[], count: number, left: number): number {
  const isPassedOn = PASSING.has(schema._zod.def.type);
  left -= isPassedOn ? PASSED_ON * count : count;
  if (isPassedOn) return left;
  for (const value of values) {
    if (left < 0) return left;
    left = remaining(schema, value, left);
  }
  return left;
}
