import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import { MESSAGES } from "../calls/channel-schema.ts";

const ENTRY = fileURLToPath(new URL("extract-main.ts", import.meta.url));
const SOURCE = fileURLToPath(new URL("../../test/fixtures/agents/declared.ts", import.meta.url));
const END_MS = 20_000;

function startReader(graphs: { file: string; export: string }[], flags: string[] = []) {
  const args = [...flags, "--import", "tsx", ENTRY, JSON.stringify({ graphs, messages: MESSAGES })];
  const reader = spawn(process.execPath, args, { stdio: ["pipe", "ignore", "inherit"] });
  onTestFinished(() => void reader.kill("SIGKILL"));
  return reader;
}

test("the reader of types ends without waiting for the threads of V8", async () => {
  const compiled = "const next = (n) => n + 1; for (let n = 0; n < 1e7;) n = next(n);";
  const reader = startReader(
    [],
    ["--concurrent-recompilation-delay=60000", "--import", `data:text/javascript,${compiled}`],
  );
  expect(await once(reader, "exit", { signal: AbortSignal.timeout(END_MS) })).toEqual([null, "SIGKILL"]);
});

test("the reader of types ends with the process that started it, while it computes", async () => {
  const reader = startReader([{ file: SOURCE, export: "declared" }]);
  reader.stdin!.end();
  expect(await once(reader, "exit", { signal: AbortSignal.timeout(END_MS) })).toEqual([null, "SIGKILL"]);
});
