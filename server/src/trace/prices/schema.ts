import { z } from "zod";

import { parseDecimal, formatDecimal } from "../run-rows/decimal.ts";
import { parseTime } from "../run-rows/times.ts";
import { NAME_KEYS } from "./model-prices.ts";

/** Dollars per token, exact: as text, or as a number if that is precise enough. */
const cost = z.union([z.string().max(60), z.number()]).transform((value, context) => {
  const parsed = parseDecimal(value);
  if (parsed !== undefined && parsed >= 0n) return formatDecimal(parsed);
  context.addIssue("must be a decimal number, not negative, with at most 18 digits after the point");
  return z.NEVER;
});

const details = z
  .record(z.string().max(100), cost)
  .nullish()
  .transform((value) => value ?? null);

const time = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((value, context) => {
    if (value === null || value === undefined) return null;
    const parsed = parseTime(value);
    if (parsed !== undefined) return parsed;
    context.addIssue("must be a time");
    return z.NEVER;
  });

export const priceBody = z.object({
  name: z.string().min(1).max(250),
  start_time: time,
  match_path: z
    .array(z.string().max(100))
    .max(20)
    .default([...NAME_KEYS]),
  match_pattern: z.string().min(1).max(500),
  provider: z
    .string()
    .max(250)
    .nullish()
    .transform((value) => value || null),
  prompt_cost: cost,
  completion_cost: cost,
  prompt_cost_details: details,
  completion_cost_details: details,
});

export const price = z
  .object({
    id: z.string(),
    /** Null for built-in prices. */
    tenant_id: z.string().nullable(),
    name: z.string(),
    start_time: z.string().nullable(),
    match_path: z.array(z.string()),
    match_pattern: z.string(),
    provider: z.string().nullable(),
    prompt_cost: z.string(),
    completion_cost: z.string(),
    prompt_cost_details: z.record(z.string(), z.union([z.string(), z.number()])).nullable(),
    completion_cost_details: z.record(z.string(), z.union([z.string(), z.number()])).nullable(),
  })
  .meta({ id: "ModelPrice" });
