/**
 * The console's files for browsers. The published package includes them; a checkout builds them when the sources are
 * newer than the last build, while the servers start.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { launcherPath } from "./launcher.ts";

export interface ConsoleFiles {
  /** Directory with index.html; null while it is being built. */
  directory: () => string | null;
  /** Reason why the build failed, if it did. */
  problem: Promise<string | null>;
}

export function consoleFiles(): ConsoleFiles {
  const root = dirname(dirname(dirname(launcherPath())));
  const script = join(root, "scripts", "build", "build-console.mjs");
  const inPackage = join(root, "dist", "console");
  if (!existsSync(script)) return { directory: () => inPackage, problem: Promise.resolve(null) };
  const built = join(root, "console", "dist");
  let ready = false;
  const problem = buildBy(script).then((message) => {
    ready = existsSync(join(built, "index.html"));
    return message ?? (ready ? null : `The console could not be built: ${built} is missing`);
  });
  return { directory: () => (ready ? built : null), problem };
}

/** Builds in a child process. Resolves with the reason of a failure, else null. */
function buildBy(script: string): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    child.once("error", (error) => resolve(error.message));
    child.once("exit", (code) =>
      resolve(code === 0 ? null : `The console could not be built: ${errors.trim().split("\n").slice(-3).join(" ")}`),
    );
  });
}
