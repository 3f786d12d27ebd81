const STEPS = [
  [60, "s"],
  [60, "m"],
  [24, "h"],
  [14, "d"],
] as const;

/** Formats how long ago a time was, as `5m ago`; a date for more than two weeks, `-` for none. */
export function formatAge(time: string | null | undefined, now = Date.now()): string {
  if (time == null || time === "") return "-";
  // times of the platform are UTC, with or without a zone
  const at = Date.parse(/Z|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`);
  let amount = Math.max(0, (now - at) / 1000);
  for (const [size, unit] of STEPS) {
    if (amount < size) return `${Math.floor(amount)}${unit} ago`;
    amount /= size;
  }
  return new Date(at).toISOString().slice(0, 10);
}
