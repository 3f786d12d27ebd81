import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { CodeProcess } from "./code-process.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-code-process-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a process whose code writes to the protocol's descriptor is killed, and the server keeps running", async () => {
  const command = join(directory, "python");
  writeFileSync(command, '#!/bin/sh\necho "this is not a frame" >&3\nexec sleep 60\n', { mode: 0o755 });
  const process = new CodeProcess({ command, cwd: directory, env: {} });
  await expect(process.load()).rejects.toThrow("broke the protocol");
  await process.ended;
  expect(process.dead).toBe(true);
});
