import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { startTrace, type TraceUnderTest } from "./servers.ts";

export interface SeededTrace {
  server: TraceUnderTest;
  project: { id: string; tenant_id: string };
  /** Id of a trace of 1,000 runs. */
  bigTrace: string;
}

/** Starts a trace platform with a project of that many runs, which another process inserts before (seed-runs.ts). */
export async function startSeededTrace(
  directory: string,
  name: string,
  env: Record<string, string>,
  runs: number,
): Promise<SeededTrace> {
  const empty = await startTrace(directory, name, env);
  const { firstKey } = empty;
  const response = await fetch(`${empty.url}/sessions`, {
    method: "POST",
    headers: { "x-api-key": firstKey, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench" }),
  });
  const project = (await response.json()) as SeededTrace["project"];
  await empty.stop();
  const bigTrace = randomUUID();
  const seed = fileURLToPath(new URL("seed-runs.ts", import.meta.url));
  const chdb = join(directory, `data-${name}`, "chdb");
  const args = ["--import", "tsx", seed, chdb, project.tenant_id, project.id, String(runs), bigTrace];
  await promisify(execFile)(process.execPath, args);
  return { server: { ...(await startTrace(directory, name, env)), firstKey }, project, bigTrace };
}
