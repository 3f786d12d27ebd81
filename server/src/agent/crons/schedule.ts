/**
 * Cron schedules. Expressions have five fields, or are one of @hourly, @daily, @weekly, @monthly, @yearly; croner
 * parses them.
 *
 * In the hour that a clock change skips, a fixed time moves to the change; in the hour that it repeats, a fixed time
 * occurs once. An expression with `*` or a step in the minute or the hour has no fixed time: nothing moves, and both
 * hours count.
 */
import { Cron } from "croner";

import { unprocessable } from "../../base/errors.ts";

export interface Schedule {
  /** The first occurrence after this moment; null when there is none. */
  next(after: Date): Date | null;
  /** The last occurrence at or before this moment; null when there is none. */
  latest(at: Date): Date | null;
}

/** Maximum lateness of an occurrence that still counts as on time. */
export const LATE_MS = 60_000;

/** Parses an expression. Throws 422 when it is invalid, never occurs, or its time zone is unknown. */
export function readSchedule(expression: string, timezone: string | null): Schedule {
  const bad = (why: string) => unprocessable(`Invalid schedule "${expression}": ${why}`);
  checkTimezone(timezone);
  const text = expression.trim();
  if (!/^(@\w+|\S+(\s+\S+){4})$/.test(text)) {
    throw bad("it must have five fields: minute, hour, day of month, month, day of week.");
  }
  let cron: Cron;
  try {
    // croner's default treats lists and ranges as wildcards, and skips or repeats their times
    cron = new Cron(text, { timezone: timezone ?? "UTC", mode: "5-part", fixedTimeRule: "no-wildcard", paused: true });
  } catch (error) {
    throw bad((error as Error).message.replace(/^CronPattern: /, ""));
  }
  const schedule: Schedule = {
    next: (after) => cron.nextRun(after),
    // croner looks strictly before, in whole seconds
    latest: (at) => cron.previousRuns(1, new Date(at.getTime() + 1))[0] ?? null,
  };
  if (schedule.next(new Date()) === null) throw bad("no date matches it.");
  return schedule;
}

function checkTimezone(timezone: string | null): void {
  if (timezone === null) return;
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw unprocessable(`Invalid timezone "${timezone}": it must be an IANA name such as "Europe/Berlin".`);
  }
}

export interface Decision {
  /** Whether a run starts, and for which occurrence. */
  start: boolean;
  occurrence: Date;
  next: Date | null;
}

/** Decides what to do now with a cron whose next occurrence was due at `due`. */
export function decide(
  schedule: Schedule,
  cron: { due: Date; endTime: Date | null },
  now: Date,
  missed: "latest" | "skip",
): Decision {
  const { due, endTime } = cron;
  const last = schedule.latest(endTime && endTime < now ? endTime : now);
  const occurrence = last && last > due ? last : due;
  const ended = endTime !== null && (occurrence > endTime || now.getTime() > endTime.getTime() + LATE_MS);
  const late = now.getTime() - occurrence.getTime() > LATE_MS;
  return { start: !ended && !(late && missed === "skip"), occurrence, next: nextDate(schedule, now, endTime) };
}

/** The next occurrence that is not after the end; null when there is none. */
export function nextDate(schedule: Schedule, after: Date, endTime: Date | null): Date | null {
  const next = schedule.next(after);
  return next === null || (endTime !== null && next > endTime) ? null : next;
}
