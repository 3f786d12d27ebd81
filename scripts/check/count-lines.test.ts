import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { countLines, describeLines } from "./count-lines.mjs";

test("counts source by area, and tests and generated files apart from it", () => {
  const root = mkdtempSync(join(tmpdir(), "heddle-lines-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const files: Record<string, number> = {
    "server/src/agent/runs/run.ts": 3,
    "server/src/agent/runs/run.db.test.ts": 5,
    "server/src/main.ts": 2,
    "server/migrations/postgres/0001_x.sql": 4,
    "server/migrations/postgres/schema.sql": 50,
    "server/test/db.ts": 6,
    "graph-host-python/heddle_host/host.py": 7,
    "graph-host-python/tests/test_host.py": 8,
    "console/src/route-tree.gen.ts": 60,
    "scripts/x.mjs": 9,
    "README.md": 100,
    "corpus/data.ts": 1000,
  };
  for (const [path, lines] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "x\n".repeat(lines));
  }
  const counts = countLines(root, Object.keys(files));
  expect(counts).toEqual({
    source: { agent: 3, server: 6, "graph-host-python": 7 },
    tests: 5 + 6 + 8 + 9,
    generated: 110,
  });
  expect(describeLines(counts)).toBe(
    "lines of source: 16 (graph-host-python 7, server 6, agent 3); tests, benches and scripts: 28; generated: 110",
  );
});
