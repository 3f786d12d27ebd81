import { expect, test } from "vitest";

import { occurrences } from "../../../../console/src/features/crons/occurrences.ts";
import { decide, nextDate, readSchedule } from "./schedule.ts";

const at = (iso: string) => new Date(iso);
const following = (expression: string, timezone: string | null, from: string, count: number) => {
  const schedule = readSchedule(expression, timezone);
  const found: string[] = [];
  for (let time = schedule.next(at(from)); time && found.length < count; time = schedule.next(time)) {
    found.push(time.toISOString().replace(":00.000Z", "Z"));
  }
  return found;
};

test("uses UTC without a time zone, regardless of the machine's", () => {
  expect(following("30 6 * * *", null, "2026-11-21T07:00:00Z", 1)).toEqual(["2026-11-22T06:30Z"]);
});

test.each([
  ["*/15 * * * *", "UTC", ["2026-11-21T12:15Z", "2026-11-21T12:30Z"]],
  ["0 9 * * MON-FRI", "America/New_York", ["2026-11-23T14:00Z", "2026-11-24T14:00Z"]],
  ["0 12 * * *", "Asia/Kathmandu", ["2026-11-22T06:15Z", "2026-11-23T06:15Z"]],
  ["0 0 29 2 *", "UTC", ["2028-02-29T00:00Z", "2032-02-29T00:00Z"]],
  ["@daily", "UTC", ["2026-11-22T00:00Z", "2026-11-23T00:00Z"]],
  ["0 0 * * 7", "UTC", ["2026-11-22T00:00Z", "2026-11-29T00:00Z"]],
  ["0 0 1,15 * *", "UTC", ["2026-12-01T00:00Z", "2026-12-15T00:00Z"]],
])("%s in %s", (expression, timezone, expected) => {
  expect(following(expression, timezone, "2026-11-21T12:00:00Z", 2)).toEqual(expected);
});

test("an occurrence in a skipped hour takes place at the clock change, once", () => {
  expect(following("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 3)).toEqual([
    "2026-03-29T01:00Z",
    "2026-03-30T00:30Z",
    "2026-03-31T00:30Z",
  ]);
  expect(following("0 * * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", 3)).toEqual([
    "2026-03-29T00:00Z",
    "2026-03-29T01:00Z",
    "2026-03-29T02:00Z",
  ]);
});

test("in a repeated hour a fixed time occurs once, and an hourly one twice", () => {
  expect(following("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).toEqual([
    "2026-10-25T00:30Z",
    "2026-10-26T01:30Z",
  ]);
  expect(following("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 3)).toEqual([
    "2026-10-25T00:00Z",
    "2026-10-25T01:00Z",
    "2026-10-25T02:00Z",
  ]);
});

test("lists and ranges are fixed times, moved by a clock change, never skipped or repeated", () => {
  expect(following("30 2,14 * * *", "Europe/Berlin", "2026-03-28T18:00:00Z", 2)).toEqual([
    "2026-03-29T01:00Z",
    "2026-03-29T12:30Z",
  ]);
  expect(following("30 2,14 * * *", "Europe/Berlin", "2026-10-24T18:00:00Z", 2)).toEqual([
    "2026-10-25T00:30Z",
    "2026-10-25T13:30Z",
  ]);
  expect(following("0,30 2 * * *", "Europe/Berlin", "2026-03-28T18:00:00Z", 2)).toEqual([
    "2026-03-29T01:00Z",
    "2026-03-30T00:00Z",
  ]);
  const ranged = readSchedule("30 1-3 * * *", "Europe/Berlin");
  expect(ranged.latest(at("2026-03-29T01:20:00Z"))).toEqual(at("2026-03-29T01:00:00Z"));
  expect(ranged.latest(at("2026-10-25T01:45:00Z"))).toEqual(at("2026-10-25T00:30:00Z"));
});

test("a minute or an hour with * follows the local clock", () => {
  expect(following("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1)).toEqual(["2026-03-30T00:00Z"]);
  expect(following("0 */2 * * *", "Europe/Berlin", "2026-10-24T22:30:00Z", 3)).toEqual([
    "2026-10-25T00:00Z",
    "2026-10-25T01:00Z",
    "2026-10-25T03:00Z",
  ]);
});

test("handles clock changes of half an hour and at midnight", () => {
  expect(following("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", 2)).toEqual([
    "2026-10-03T15:30Z",
    "2026-10-04T15:15Z",
  ]);
  expect(following("30 0 * * *", "Asia/Beirut", "2026-03-28T12:00:00Z", 2)).toEqual([
    "2026-03-28T22:00Z",
    "2026-03-29T21:30Z",
  ]);
});

test.each([
  ["", /five fields/],
  ["* * * *", /five fields/],
  ["* * * * * *", /five fields/],
  ["0 0 1 1 * 2030", /five fields/],
  ["2026-12-01T00:00:00", /five fields/],
  ["@reboot", /not supported/],
  ["@fortnightly", /Invalid schedule/],
  ["60 * * * *", /Invalid value for minute/],
  ["* 24 * * *", /Invalid schedule/],
  ["* * 0 * *", /Invalid schedule/],
  ["* * * 13 *", /Invalid schedule/],
  ["* * * * 8", /Invalid schedule/],
  ["*/0 * * * *", /illegal stepping/],
  ["5-1 * * * *", /Invalid schedule/],
  ["a b c d e", /Invalid schedule/],
  ["0 0 31 2 *", /no date matches it/],
  ["0 0 31 4,6,9,11 *", /no date matches it/],
])("rejects %j", (expression, message) => {
  expect(() => readSchedule(expression, null)).toThrow(message);
  expect(() => readSchedule(expression, null)).toThrow(expect.objectContaining({ status: 422 }));
});

test.each(["Mars/Olympus", "Berlin", "", "UTC+99", "Europe/Berlin; drop table"])("rejects time zone %j", (timezone) => {
  expect(() => readSchedule("* * * * *", timezone)).toThrow(/Invalid timezone/);
});

const hourly = readSchedule("0 * * * *", null);
const on = (due: string, now: string, endTime: string | null = null, missed: "latest" | "skip" = "latest") => {
  const decision = decide(hourly, { due: at(due), endTime: endTime ? at(endTime) : null }, at(now), missed);
  return [decision.start, decision.occurrence.toISOString(), decision.next?.toISOString() ?? null];
};

test("starts what is due now, and schedules the next occurrence", () => {
  expect(on("2026-11-21T12:00:00Z", "2026-11-21T12:00:00.003Z")).toEqual([
    true,
    "2026-11-21T12:00:00.000Z",
    "2026-11-21T13:00:00.000Z",
  ]);
});

test("starts the latest missed occurrence once, or none with skip", () => {
  const missed = ["2026-11-21T12:00:00Z", "2026-11-23T15:30:00Z"] as const;
  expect(on(...missed)).toEqual([true, "2026-11-23T15:00:00.000Z", "2026-11-23T16:00:00.000Z"]);
  expect(on(...missed, null, "skip")).toEqual([false, "2026-11-23T15:00:00.000Z", "2026-11-23T16:00:00.000Z"]);
  // up to a minute's delay still counts as on time
  expect(on("2026-11-21T12:00:00Z", "2026-11-21T12:00:59Z", null, "skip")[0]).toBe(true);
});

test("starts and schedules nothing after the end time", () => {
  expect(on("2026-11-21T12:00:00Z", "2026-11-21T12:00:00.100Z", "2026-11-21T12:00:00Z")).toEqual([
    true,
    "2026-11-21T12:00:00.000Z",
    null,
  ]);
  expect(on("2026-11-21T12:00:00Z", "2026-11-21T14:00:00.100Z", "2026-11-21T13:30:00Z")).toEqual([
    false,
    "2026-11-21T13:00:00.000Z",
    null,
  ]);
  expect(on("2026-11-21T14:00:00Z", "2026-11-21T14:00:00.100Z", "2026-11-21T13:30:00Z")[0]).toBe(false);
  expect(nextDate(hourly, at("2026-11-21T12:10:00Z"), at("2026-11-21T12:59:59Z"))).toBeNull();
});

test("the console shows the times at which the server fires, around clock changes too", () => {
  const minutes = ["30", "0,30", "15-45", "*/15"];
  const hours = ["2", "2,3", "1-3", "*"];
  const days = ["* * *", "28 3 *", "31 10 *"];
  const changes = [
    ["Europe/Berlin", "2027-03-27T12:00:00Z"],
    ["Europe/Berlin", "2027-10-30T12:00:00Z"],
    ["America/New_York", "2027-03-13T12:00:00Z"],
    ["America/New_York", "2027-11-06T12:00:00Z"],
    ["Australia/Lord_Howe", "2027-04-03T00:00:00Z"],
    ["Australia/Lord_Howe", "2027-10-02T00:00:00Z"],
  ] as const;
  for (const [timezone, from] of changes) {
    for (const expression of minutes.flatMap((m) => hours.flatMap((h) => days.map((d) => `${m} ${h} ${d}`)))) {
      const shown = occurrences(expression, timezone, 8, undefined, at(from));
      const fired = following(expression, timezone, from, 8);
      expect([timezone, expression, shown.map((time) => time.toISOString().replace(":00.000Z", "Z"))]).toEqual([
        timezone,
        expression,
        fired,
      ]);
    }
  }
});
