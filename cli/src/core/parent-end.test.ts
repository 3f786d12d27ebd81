import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, onTestFinished, test } from "vitest";

/** Ends when its parent is gone, after V8 has begun to compile a function. */
const PROGRAM = `
  import { onParentEnd } from ${JSON.stringify(new URL("parent-end.ts", import.meta.url).href)};
  onParentEnd(() => process.exit());
  const next = (n) => n + 1;
  for (let n = 0; n < 1e7;) n = next(n);
  process.send("ready");
  setInterval(() => {}, 1000);
`;

test("a process whose parent is gone ends without waiting for the threads of V8", async () => {
  const flags = ["--concurrent-recompilation-delay=20000", "--import", "tsx", "--input-type=module"];
  const child = spawn(process.execPath, [...flags, "--eval", PROGRAM], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "message");
  child.disconnect();
  expect(await once(child, "exit", { signal: AbortSignal.timeout(10_000) })).toEqual([null, "SIGKILL"]);
});
