const moment = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});

/** Formats in UTC, because an export's days are days of UTC. */
export const utcMoment = (iso: string): string => `${moment.format(new Date(iso))} UTC`;

export interface ExportWindow {
  start_time: string;
  end_time: string | null;
  interval_hours: number | null;
}

export function describeWindow({ start_time: start, end_time: end, interval_hours: hours }: ExportWindow): string {
  if (hours !== null) return `from ${utcMoment(start)} on, every ${hours} h`;
  return `${moment.format(new Date(start))} – ${end === null ? "" : utcMoment(end)}`;
}

/** Returns a schedule's next windows, each exported once it is over. */
export function nextWindows(
  { start_time: start, interval_hours: hours }: ExportWindow,
  now: number,
  most: number,
): { start: string; end: string }[] {
  if (hours === null) return [];
  const length = hours * 3_600_000;
  const first = Date.parse(start);
  const over = Math.max(0, Math.floor((now - first) / length));
  return Array.from({ length: most }, (_, index) => {
    const from = first + (over + index) * length;
    return { start: new Date(from).toISOString(), end: new Date(from + length).toISOString() };
  });
}
