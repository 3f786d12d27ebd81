import { expect, test } from "vitest";

import { RepeatedFailure } from "./repeated-failure.ts";

function recorded() {
  const lines: [level: string, fields: Record<string, unknown>, message: string][] = [];
  let now = 0;
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields as Record<string, unknown>, message]);
  const log = { error: at("error"), warn: at("warn"), debug: at("debug") } as never;
  const failure = new RepeatedFailure({ log, message: "could not claim runs", now: () => now });
  return { failure, lines, wait: (ms: number) => (now += ms) };
}

test("logs the first failure at error at once, and again with a count after 10 s, 1 min and each 5 min", () => {
  const { failure, lines, wait } = recorded();
  for (let second = 0; second <= 700; second++) {
    failure.failed(new Error("unreachable"));
    wait(1000);
  }
  const errors = lines.filter(([level]) => level === "error");
  expect(errors.map(([, { seconds }]) => seconds)).toEqual([undefined, 10, 70, 370, 670]);
  expect(errors.map(([, { failures }]) => failures)).toEqual([undefined, 11, 71, 371, 671]);
});

test("logs the recovery once, with the duration of the failure", () => {
  const { failure, lines, wait } = recorded();
  failure.succeeded();
  failure.failed(new Error("unreachable"));
  wait(3000);
  failure.failed(new Error("unreachable"));
  failure.succeeded();
  failure.succeeded();
  const over = lines.filter(([level]) => level === "warn");
  expect(over).toEqual([["warn", { failures: 2, seconds: 3 }, "recovered: could not claim runs"]]);
  failure.failed(new Error("unreachable"));
  expect(lines.at(-1)![0]).toBe("error");
});

test("reports an ongoing failure with its code, until a success or until reports stop", () => {
  const { failure, wait } = recorded();
  const full = Object.assign(new Error("could not extend file /var/lib/x"), { code: "53100" });
  failure.failed(full);
  expect(failure.failingFor(5000)).toBeUndefined();
  wait(6000);
  failure.failed(full);
  expect(failure.failingFor(5000)).toBe("could not claim runs, for 6 s (53100)");
  wait(16_000);
  expect(failure.failingFor(5000)).toBeUndefined();
  failure.failed(full);
  failure.succeeded();
  expect(failure.failingFor(0)).toBeUndefined();
});
