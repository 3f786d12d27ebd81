import { expect, test } from "vitest";

import { restartPause } from "./restart-pause.ts";

function pauses(count: number, death: { hasAnswered: boolean; signal: string | null; uptimeMs?: number }): number[] {
  const list: number[] = [];
  for (let n = 0; n < count; n++) list.push(restartPause(list.at(-1) ?? 0, { uptimeMs: 1000, ...death }));
  return list;
}

test("a process that is killed again and again is restarted within 4 s, even if it never gets to answer", () => {
  for (const signal of ["SIGKILL", "SIGTERM"])
    expect(pauses(6, { hasAnswered: false, signal })).toEqual([500, 1000, 2000, 4000, 4000, 4000]);
  expect(pauses(6, { hasAnswered: true, signal: null }).at(-1)).toBe(4000);
});

test("a process that crashes at its start waits up to 30 s, and the pause begins anew after a minute of uptime", () => {
  expect(pauses(8, { hasAnswered: false, signal: null }).slice(-3)).toEqual([16_000, 30_000, 30_000]);
  expect(pauses(8, { hasAnswered: false, signal: "SIGSEGV" }).at(-1)).toBe(30_000);
  expect(restartPause(30_000, { uptimeMs: 61_000, hasAnswered: true, signal: null })).toBe(500);
});
