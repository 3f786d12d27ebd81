import { expect, test } from "vitest";

import { fromMicros, parseRunTime, parseTime } from "./times.ts";

test("numbers are rounded to the microsecond, alike in runs and queries", () => {
  const start = 1_795_255_200_000_000;
  for (let n = 0; n < 3000; n++) {
    const micros = start + n * 100_003;
    const expected = fromMicros(micros);
    expect([micros, parseTime(micros / 1000), parseRunTime(micros / 1000)]).toEqual([micros, expected, expected]);
  }
  expect(parseTime(-0.5)).toBe("1969-12-31 23:59:59.999500");
  expect([NaN, Infinity, -Infinity, 1e300].map(parseTime)).toEqual([undefined, undefined, undefined, undefined]);
});

test.each([
  ["2026-11-21T10:00:00.123456Z", "2026-11-21 10:00:00.123456"],
  [" 2026-11-21 10:00:00,1 ", "2026-11-21 10:00:00.100000"],
  ["2026-11-21t10:00z", "2026-11-21 10:00:00.000000"],
  ["2026-11-21", "2026-11-21 00:00:00.000000"],
  ["2026-11-21T10:00:00.123456789012Z", "2026-11-21 10:00:00.123456"],
  ["2026-11-21T10:00:00+02:30", "2026-11-21 07:30:00.000000"],
  ["2026-11-21T23:00:00-0230", "2026-11-22 01:30:00.000000"],
  ["2026-11-21T10:00:00 +02", "2026-11-21 08:00:00.000000"],
  ["2016-12-31T23:59:60Z", "2017-01-01 00:00:00.000000"],
  ["2024-02-29", "2024-02-29 00:00:00.000000"],
])("%s is %s", (text, expected) => {
  expect([parseTime(text), parseRunTime(text)]).toEqual([expected, expected]);
});

test.each(["", "2026-02-29", "2026-13-01", "2026-00-01", "2026-11-00", "2026-11-21T24:00Z", "2026-11-21T10:60Z"])(
  "%s is invalid",
  (text) => expect([parseTime(text), parseRunTime(text)]).toEqual([undefined, undefined]),
);
test.each(["2026-11-21T10:00:61Z", "2026-11-21T10:00:00.Z", "2026-11-21T10:00:00+2", "1795255200123", "0050-01-01"])(
  "%s is invalid",
  (text) => expect([parseTime(text), parseRunTime(text)]).toEqual([undefined, undefined]),
);

test("queries may name times that no run can have", () => {
  for (const text of ["1900-01-01", "1969-12-31T23:59:59.999999Z", "2200-01-01", "2298-12-31"]) {
    expect([text, parseTime(text)?.slice(0, 10), parseRunTime(text)]).toEqual([text, text.slice(0, 10), undefined]);
  }
  expect(["1899-12-31", "2299-01-01"].map(parseTime)).toEqual([undefined, undefined]);
});
