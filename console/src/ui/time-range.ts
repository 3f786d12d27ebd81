/** Time range of a page; in URLs `last=24h`, or `from=…&to=…`. */
export const PRESETS = {
  "15m": { label: "Last 15 minutes", seconds: 900 },
  "1h": { label: "Last hour", seconds: 3600 },
  "6h": { label: "Last 6 hours", seconds: 6 * 3600 },
  "24h": { label: "Last 24 hours", seconds: 86_400 },
  "7d": { label: "Last 7 days", seconds: 7 * 86_400 },
  "30d": { label: "Last 30 days", seconds: 30 * 86_400 },
  "90d": { label: "Last 90 days", seconds: 90 * 86_400 },
} as const;

/** `from` and `to`: ISO, UTC. */
export type TimeRange = { last: keyof typeof PRESETS } | { from: string; to: string };

export const isPreset = (value: unknown): value is keyof typeof PRESETS =>
  typeof value === "string" && Object.hasOwn(PRESETS, value);

/** Reads a range from search parameters; invalid values are ignored. */
export function readTimeRange(
  search: { last?: unknown; from?: unknown; to?: unknown },
  byDefault: TimeRange,
): TimeRange {
  const { last, from, to } = search;
  if (isPreset(last)) return { last };
  if (typeof from === "string" && typeof to === "string" && Date.parse(from) < Date.parse(to)) return { from, to };
  return byDefault;
}

/** Returns the bounds in milliseconds since 1970. */
export function rangeBounds(range: TimeRange, now: number): { from: number; to: number } {
  if ("last" in range) return { from: now - PRESETS[range.last].seconds * 1000, to: now };
  return { from: Date.parse(range.from), to: Date.parse(range.to) };
}

const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

export function describeRange(range: TimeRange): string {
  if ("last" in range) return PRESETS[range.last].label;
  return `${short.format(Date.parse(range.from))} – ${short.format(Date.parse(range.to))}`;
}

const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86_400, 7 * 86_400, 28 * 86_400];

/** Returns the shortest round bucket, in seconds, of which at most `most` fit into the range. */
export function bucketSeconds(range: TimeRange, now: number, most = 90): number {
  const { from, to } = rangeBounds(range, now);
  const least = (to - from) / 1000 / most;
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / 86_400) * 86_400;
}

/** Formats a time for `datetime-local`, in the browser's zone. */
export function localText(ms: number): string {
  const offset = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offset).toISOString().slice(0, 16);
}
