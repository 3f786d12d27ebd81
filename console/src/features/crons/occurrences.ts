/**
 * Due times of a cron, by the same library and rules as the server's: five fields, or @daily and similar. The tests of the
 * server's schedules compare both.
 */
import { Cron } from "croner";

/**
 * @param timezone IANA name; UTC where it is null
 * @returns at most `count` after `after`, none after `end`
 * @throws an error whose message explains what is wrong with the expression
 */
export function occurrences(
  expression: string,
  timezone: string | null,
  count = 5,
  end?: Date,
  after = new Date(),
): Date[] {
  const text = expression.trim();
  if (!/^(@\w+|\S+(\s+\S+){4})$/.test(text)) {
    throw new Error("A schedule needs five fields: minute, hour, day of month, month, day of week.");
  }
  let cron: Cron;
  try {
    cron = new Cron(text, { timezone: timezone ?? "UTC", mode: "5-part", fixedTimeRule: "no-wildcard", paused: true });
  } catch (error) {
    throw new Error((error as Error).message.replace(/^CronPattern: /, ""), { cause: error });
  }
  const next = cron.nextRuns(count, after);
  if (next.length === 0) throw new Error("The schedule matches no date.");
  return end ? next.filter((at) => at <= end) : next;
}

/** Formats as `Mon 23 Nov, 09:00 GMT+1`, in that zone. */
export function formatInZone(at: Date, timezone: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: timezone,
    timeZoneName: "short",
  }).format(at);
}

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
