import { expect, test } from "vitest";

import { formatInZone, occurrences } from "./occurrences.ts";

test("the next occurrences follow the schedule's time zone", () => {
  const [first, second] = occurrences("0 9 * * *", "Asia/Tokyo", 2);
  expect([first!.getUTCHours(), second!.getTime() - first!.getTime()]).toEqual([0, 86_400_000]);
  expect(formatInZone(first!, "Asia/Tokyo")).toContain("09:00");
});

test("lists no occurrence after the end", () => {
  const end = new Date(Date.now() + 150_000);
  expect(occurrences("* * * * *", null, 5, end).every((at) => at <= end)).toBe(true);
  expect(occurrences("* * * * *", null, 5, end).length).toBeLessThan(4);
});

test("rejects invalid cron expressions with a message", () => {
  expect(() => occurrences("* * *", null)).toThrow("five fields");
  expect(() => occurrences("61 * * * *", null)).toThrow(/minute/);
  expect(() => occurrences("0 0 31 2 *", null)).toThrow("The schedule matches no date");
});
