import { z } from "zod";

/** Fields that occur in many requests. Bounds are part of the contract: a value outside them gets 422, never 500. */

/** Any version of UUID, including nil. In lower case, because ids are also compared as text. */
export const uuid = z.guid("must be a UUID").toLowerCase();

export const jsonObject = z.record(z.string(), z.unknown());

export const limit = (byDefault: number, max = 1000) =>
  z
    .int()
    .min(1)
    .max(max)
    .nullish()
    .transform((n) => n ?? byDefault);

/** Time to live, or a pause, in minutes: up to a hundred years, within the range of dates in Postgres. */
export const minutes = z.number().positive().max(52_560_000);

export const offset = z
  .int()
  .min(0)
  .max(2_147_483_647)
  .nullish()
  .transform((n) => n ?? 0);

/** A number in a query string. */
const digits = z
  .string()
  .regex(/^\d{1,10}$/, "must be a whole number")
  .transform(Number);

export const queryLimit = (byDefault: number, max = 1000) =>
  digits
    .pipe(z.int().min(1).max(max))
    .optional()
    .transform((n) => n ?? byDefault);

export const queryOffset = digits
  .pipe(z.int().min(0).max(2_147_483_647))
  .optional()
  .transform((n) => n ?? 0);

/** `true`, `1` and `yes` are true, all else is false. */
export const queryFlag = z
  .string()
  .optional()
  .transform((text) => /^(true|1|yes)$/i.test(text ?? ""));

/**
 * A documented field that is not implemented yet. It is rejected by name rather than ignored, so that no caller relies
 * on it.
 */
export const notBuilt = (name: string, instead = "") =>
  z.null(`"${name}" is not supported${instead ? `: ${instead}` : " yet; leave it out"}`).optional();

/** Unsupported query parameter. */
export const queryNotBuilt = (name: string) => z.undefined(`"${name}" is not supported yet; leave it out`).optional();

/** Unsupported boolean query parameter; only false is accepted, because it is the existing behaviour. */
export const queryFalse = (name: string, instead = "") =>
  z
    .enum(["false", "False", "0"], `"${name}" is not supported${instead ? `: ${instead}` : " yet; leave it out"}`)
    .optional();

/** Text that Postgres can store. */
export const storableText = z.string().refine((text) => !text.includes("\0"), "must not contain null characters");

/** Query parameters are text, and a repeated one is a list. Always yields a list. */
export const queryMany = <T extends z.ZodType<string, string>>(item: T, max = 1000) =>
  z
    .union([item, z.array(item).max(max)])
    .optional()
    .transform((value) => (value === undefined ? undefined : ([value].flat() as string[])));

/** `true` or `false` in a query string; undefined when absent. */
export const queryBoolean = z
  .enum(["true", "false", "True", "False", "1", "0"], "must be true or false")
  .optional()
  .transform((text) => (text === undefined ? undefined : /^(true|1)$/i.test(text)));

const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?:Z|([+-]\d{2})(?::?(\d{2}))?)?$/i;
const FIRST_MS = Date.parse("0001-01-01T00:00:00Z");
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
/** Postgres knows no zones further away. */
const FARTHEST_ZONE_HOURS = 15;

/** Returns the one spelling that Date, Postgres and ClickHouse all parse; undefined for an invalid time. */
function normalizeIsoTime(text: string): string | undefined {
  const match = ISO_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction, zone, zoneMinutes = "00"] = match;
  // Date rolls the 30th of February over into March, and 24:00 into the next day; it has no leap seconds
  const lastDay = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(day) > lastDay || Number(hour) > 23) return undefined;
  if (zone !== undefined && Math.abs(Number(zone)) > FARTHEST_ZONE_HOURS) return undefined;
  const clock = `${hour}:${minute}:${second}${fraction === undefined ? "" : `.${fraction}`}`;
  const canonical = `${year}-${month}-${day}T${clock}${zone === undefined ? "Z" : `${zone}:${zoneMinutes}`}`;
  const ms = Date.parse(canonical);
  return ms >= FIRST_MS && ms <= LAST_MS ? canonical : undefined;
}

/** ISO 8601 time; UTC without a zone. Remains text, because a Date would lose the microseconds. */
export const isoTime = z
  .string()
  .refine((text) => normalizeIsoTime(text) !== undefined, "must be an ISO 8601 time")
  .transform((text) => normalizeIsoTime(text)!);

/** Time as ISO 8601 or as milliseconds since 1970. Becomes ISO text. */
export const timestamp = z.union([
  isoTime,
  z
    .number()
    .min(0)
    .max(253_402_300_799_999)
    .transform((ms) => new Date(ms).toISOString()),
]);
