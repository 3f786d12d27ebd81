/** Formats numbers for readers. A missing one is always a dash. */
const NONE = "–";
const integer = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const count = (value: number | null | undefined): string => (value == null ? NONE : integer.format(value));
export const compact = (value: number | null | undefined): string => (value == null ? NONE : short.format(value));

export function percent(share: number | null | undefined): string {
  if (share == null) return NONE;
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
}

/**
 * Formats in the largest unit that leaves three digits: 850 µs, 12.3 ms, 4.56 s, 2 min 5 s, 3 h 20 min. A negative
 * duration, of clients whose two times differ in precision, is none.
 */
export function duration(ms: number | null | undefined): string {
  if (ms == null || !Number.isFinite(ms)) return NONE;
  if (ms <= 0) return "0 s";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms.toPrecision(3).replace(/\.0+$/, "")} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toPrecision(3)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** Formats a duration in seconds. */
export const seconds = (value: number | null | undefined): string => duration(value == null ? null : value * 1000);

/** Units of an axis by the largest value that is shown in them, each with its size; all in milliseconds. */
const TICK_UNITS = [
  { below: 1, size: 0.001, unit: "µs" },
  { below: 1000, size: 1, unit: "ms" },
  { below: 180_000, size: 1000, unit: "s" },
  { below: 2 * 3_600_000, size: 60_000, unit: "min" },
  { below: Number.POSITIVE_INFINITY, size: 3_600_000, unit: "h" },
];

/**
 * Formats the ticks of an axis in one unit: 0 s, 50 s, 100 s.
 * @param values in milliseconds
 */
export function durationTicks(values: readonly number[]): string[] {
  const max = Math.max(0, ...values);
  const { size, unit } = TICK_UNITS.find(({ below }) => max < below)!;
  return values.map((value) => `${Number((value / size).toPrecision(6))} ${unit}`);
}

/** Formats a number with its noun: 1 trace, 2 traces. */
export const counted = (value: number | null | undefined, noun: string): string =>
  `${count(value)} ${value === 1 ? noun : `${noun}s`}`;

/** Formats a number of tokens. Runs that report none have 0, which is shown like a missing value. */
export const tokens = (value: number | null | undefined): string => compact(value === 0 ? null : value);

export function bytes(value: number | null | undefined): string {
  if (value == null) return NONE;
  const units = ["B", "kB", "MB", "GB", "TB"];
  const at = value < 1000 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return `${at === 0 ? value : (value / 1000 ** at).toPrecision(3)} ${units[at]}`;
}

export function money(dollars: number | string | null | undefined): string {
  if (dollars == null || dollars === "") return NONE;
  const value = Number(dollars);
  if (value === 0) return "$0";
  if (value > 0 && value < 1e-6) return "<$0.000001";
  return value < 0.01 ? `$${value.toPrecision(2)}` : `$${value.toFixed(value < 1 ? 4 : 2)}`;
}

/** Formats as `2 min ago`, `in 3 h`. */
export function relativeTime(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return "now";
  const [value, unit] =
    size < 60
      ? [size, "s"]
      : size < 3600
        ? [size / 60, "min"]
        : size < 86_400
          ? [size / 3600, "h"]
          : [size / 86_400, "d"];
  const text = `${Math.floor(value)} ${unit}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

// one for all rows of a list: it takes longer to make than to use
const full = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** Formats in the browser's time zone: `21 Nov 2026, 20:34:05 GMT+1`. */
export const fullTime = (iso: string): string => full.format(new Date(iso));
