/**
 * Times on the wire: ISO 8601 with `Z`, an offset or none (then UTC), or milliseconds since 1970 as a number (contract
 * §0.5). Microseconds matter, because the SDKs order runs by them. Filters read times as ingest does, so that one that
 * contains the time that was sent finds its run.
 */

/** UTC `YYYY-MM-DD hh:mm:ss.ffffff`, which sorts chronologically. */
export type MicroTime = string;

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

interface Range {
  first: number;
  /** Exclusive. */
  end: number;
}

/** Range of DateTime64. */
const QUERIED: Range = { first: Date.UTC(1900, 0, 1), end: Date.UTC(2299, 0, 1) };
/** Range of the times of runs, which suits monthly partitions. */
const STORED: Range = { first: Date.UTC(1970, 0, 1), end: Date.UTC(2200, 0, 1) };

/** Time as milliseconds since 1970, and the microseconds below them. */
interface Instant {
  ms: number;
  below: number;
}

/** Parses a time of a query; undefined for an invalid one or one outside of 1900 to 2298. */
export const parseTime = (value: unknown): MicroTime | undefined => format(read(value), QUERIED);

/** Parses a time of a run; undefined for an invalid one or one outside of 1970 to 2199. */
export const parseRunTime = (value: unknown): MicroTime | undefined => format(read(value), STORED);

/** Formats microseconds since 1970; undefined outside of 1970 to 2199. */
export const fromMicros = (micros: number): MicroTime | undefined => format(instant(micros), STORED);

function instant(micros: number): Instant {
  const ms = Math.floor(micros / 1000);
  return { ms, below: micros - ms * 1000 };
}

function read(value: unknown): Instant | undefined {
  // a double near the present has a quarter of a microsecond: the nearest one is meant
  if (typeof value === "number") return instant(Math.round(value * 1000));
  const parts = typeof value === "string" && ISO.exec(value.trim());
  if (!parts) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone] = parts;
  const midnight = Date.UTC(+year!, +month! - 1, +day!);
  // Date.UTC overflows: 31 February is not a valid date; and it takes the year 50 for 1950
  const date = new Date(midnight);
  if (date.getUTCMonth() !== +month! - 1 || date.getUTCFullYear() !== +year!) return undefined;
  // a leap second is the next minute's first
  if (+hour > 23 || +minute > 59 || +second > 60) return undefined;
  const micros = Number(fraction.slice(0, 6).padEnd(6, "0"));
  const seconds = (+hour * 60 + +minute) * 60 + +second;
  return { ms: midnight + seconds * 1000 - offsetMs(zone) + Math.floor(micros / 1000), below: micros % 1000 };
}

function format(time: Instant | undefined, { first, end }: Range): MicroTime | undefined {
  if (!time || !(time.ms >= first && time.ms < end)) return undefined;
  const text = new Date(time.ms).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)}${String(time.below).padStart(3, "0")}`;
}

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === "Z") return 0;
  const sign = zone.startsWith("-") ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(":", "") || 0)) * 60_000;
}
