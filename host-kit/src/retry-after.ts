/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
 *
 * @returns the time to wait in milliseconds, at least 0; undefined without the header, or if it says neither
 */
export function retryAfterMs(header: string | string[] | null | undefined, now = Date.now()): number | undefined {
  const text = [header ?? ""].flat()[0]!.trim();
  if (text === "") return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
