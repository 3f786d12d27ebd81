/**
 * Times on the wire: ISO 8601 with `Z`, an offset or none (then UTC), or milliseconds since 1970 as a number (contract
 * §0.5). Microseconds matter, because the SDKs order runs by them.
 */

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?\s*(Z|[+-]\d\d:?(?:\d\d)?)?)?$/i;

/** Range that suits DateTime64(6) and monthly partitions. */
const EARLIEST = Date.UTC(1970, 0, 1);
const LATEST = Date.UTC(2200, 0, 1);

/** Returns `YYYY-MM-DD hh:mm:ss.ffffff` in UTC; undefined for an invalid time or one outside of 1970 to 2199. */
export function parseTime(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? fromMicros(Math.round(value * 1000)) : undefined;
  if (typeof value !== "string") return undefined;
  const parts = ISO.exec(value.trim());
  if (!parts) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone] = parts;
  const ms = Date.UTC(+year!, +month! - 1, +day!, +hour, +minute, +second);
  const date = new Date(ms);
  // Date.UTC overflows: 31 February is not a valid date
  if (date.getUTCMonth() !== +month! - 1 || date.getUTCDate() !== +day! || +hour > 23 || +minute > 59) return undefined;
  const micros = Number(fraction.slice(0, 6).padEnd(6, "0"));
  const at = ms - offsetMs(zone);
  if (!(at >= EARLIEST && at < LATEST)) return undefined;
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")}.${String(micros).padStart(6, "0")}`;
}

/** Formats microseconds since 1970. */
export function fromMicros(micros: number): string | undefined {
  const ms = Math.floor(micros / 1000);
  if (!(ms >= EARLIEST && ms < LATEST)) return undefined;
  const text = new Date(ms).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 23)}${String(micros - ms * 1000).padStart(3, "0")}`;
}

function offsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === "Z") return 0;
  const sign = zone.startsWith("-") ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(":", "") || 0)) * 60_000;
}
