import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { removeDirectory, startTrace, temporaryDirectory, type TraceUnderTest } from "./servers.ts";

export interface SeededTrace {
  server: TraceUnderTest;
  project: { id: string; tenant_id: string };
  /** Id of a trace of 1,000 runs. */
  bigTrace: string;
}

/** Directory of the data of a bench: a temporary one, or with `--data` one that is kept, so that it is seeded once. */
export async function seedDirectory(data: string | undefined): Promise<{ directory: string; end(): Promise<void> }> {
  if (data === undefined) {
    const directory = await temporaryDirectory();
    return { directory, end: () => removeDirectory(directory) };
  }
  await mkdir(data, { recursive: true });
  await chmod(data, 0o755);
  return { directory: data, end: async () => {} };
}

/**
 * Starts a trace platform with a project of that many runs, which another process inserts before (seed-runs.ts), unless
 * the directory has them from an earlier bench.
 */
export async function startSeededTrace(
  directory: string,
  name: string,
  env: Record<string, string>,
  runs: number,
): Promise<SeededTrace> {
  const record = join(directory, `${name}-${runs}.json`);
  const seeded = await readFile(record, "utf8").catch(() => undefined);
  if (seeded !== undefined) {
    const known = JSON.parse(seeded) as Omit<SeededTrace, "server"> & { firstKey: string };
    return { ...known, server: { ...(await startTrace(directory, name, env)), firstKey: known.firstKey } };
  }
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
  await writeFile(record, JSON.stringify({ project, bigTrace, firstKey }));
  return { server: { ...(await startTrace(directory, name, env)), firstKey }, project, bigTrace };
}
