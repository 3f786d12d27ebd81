import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect, test } from "vitest";

import { RunMemory, newCall } from "./run-memory.ts";
import { readFacts } from "./run-piece.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const MIB = 1024 * 1024;

/** Returns what stays in memory of what `fill` puts there, in MiB. */
function kept(fill: (memory: RunMemory) => void): number {
  const memory = new RunMemory();
  collect();
  const before = process.memoryUsage().heapUsed;
  fill(memory);
  collect();
  const mib = (process.memoryUsage().heapUsed - before) / MIB;
  expect(memory.get("tenant", "none")).toBeUndefined();
  return mib;
}

const run = (text: string) => ({
  project_id: text.slice(0, 36),
  start_time: text.slice(36, 62),
  trace_id: text.slice(62, 98),
  shape: undefined,
  model: undefined,
  call: newCall(),
  patched: 0,
});

test("runs do not keep the texts that their ids and times are parts of", () => {
  const mib = kept((memory) => {
    for (let n = 0; n < 100; n++) {
      const text = `${n}`.padStart(MIB, "x");
      memory.set("tenant", text.slice(-36), run(text));
    }
  });
  expect(mib).toBeLessThan(5);
});

test("names of models are copies of bounded length", () => {
  const mib = kept((memory) => {
    for (let n = 0; n < 100; n++) {
      const ls_model_name = `${n}`.padEnd(MIB, "x");
      const { model } = readFacts({ metadata: { ls_model_name, model: ls_model_name } });
      expect(model?.name).toHaveLength(250);
      memory.internModel(model!);
    }
  });
  expect(mib).toBeLessThan(5);
});

test("shapes with many names are not kept, and those with few are one object", () => {
  const names = (count: number, prefix: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 1]));
  const memory = new RunMemory();
  expect(memory.internShape({}, names(10, "a"))).toBe(memory.internShape({}, names(10, "a")));
  expect(memory.internShape(names(20_000, "a"), {})).toBeUndefined();
  const mib = kept((memory) => {
    for (let n = 0; n < 600; n++) memory.internShape({}, names(1000, `${n} `));
  });
  expect(mib).toBeLessThan(30);
});
