import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { vi } from "vitest";

export const LAUNCHER = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
const WAIT = { timeout: 120_000, interval: 50 };

export interface PrintedPlatform {
  child: ChildProcess;
  /** Returns the address that was printed for a part, such as "Traces". */
  url(part: string): string;
  /** Returns the key of the first start. */
  key(): string;
}

/** Starts `heddle dev` or `heddle up` as a user does, with only this environment, and waits for all its addresses. */
export async function startPrinted(args: string[], env: NodeJS.ProcessEnv): Promise<PrintedPlatform> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    env: { PATH: process.env["PATH"], HEDDLE_CONSOLE: "true", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // on a busy machine the trace platform starts after the banner, and a line announces it
  const find = (part: string): string | undefined =>
    new RegExp(`^  ${part} +(http\\S+)$`, "m").exec(output)?.[1] ??
    (part === "Traces" ? /The trace platform is up at (http\S+)\.$/m.exec(output)?.[1] : undefined);
  const isComplete = () => output.includes("Stop with Ctrl-C") && find("Traces") !== undefined;
  await vi.waitUntil(() => child.exitCode !== null || isComplete(), WAIT);
  return {
    child,
    url(part) {
      const url = find(part);
      if (url === undefined) throw new Error(`no ${part} in ${output}`);
      return url;
    },
    key() {
      const key = /Key\s+(lsv2_\S+)/.exec(output)?.[1];
      if (key === undefined) throw new Error(`no key in ${output}`);
      return key;
    },
  };
}
