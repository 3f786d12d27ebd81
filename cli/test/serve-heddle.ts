import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, expect } from "vitest";

import { type TestDatabase, testDatabase } from "../../server/test/db.ts";

const LAUNCHER = fileURLToPath(new URL("../bin/heddle.js", import.meta.url));
const PROJECT = fileURLToPath(new URL("../../server/test/fixtures/agent-project/langgraph.json", import.meta.url));

/** URL of the trace platform: in the banner, or after it when the start took long. */
export const TRACES_ANNOUNCED = /(?:^ {2}Traces +|The trace platform is up at )(http:\/\/127\.0\.0\.1:\d+)/m;

export interface ServingCommand {
  child: ChildProcess;
  output(): string;
  /** Returns the output's text after a name of the banner. */
  line(name: string): string | undefined;
  exited: Promise<number | null>;
}

/** Starts a command and resolves once its output contains `until`. `env` is the whole environment besides the database. */
export type Serve = (args: string[], until: string, env?: Record<string, string>) => Promise<ServingCommand>;

/** Prepares serving commands on a database and a data directory of the test file. They are killed after each test. */
export async function servingCommands(name: string): Promise<{ serve: Serve; db: TestDatabase }> {
  const db = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), `heddle-cli-${name}-`));
  const running: ChildProcess[] = [];
  afterEach(() => {
    for (const child of running.splice(0)) child.kill("SIGKILL");
  });
  afterAll(() => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }));
  const serve: Serve = async (args, until, env = {}) => {
    const all = [LAUNCHER, ...args, "--config", PROJECT, "--port", "0", "--data-dir", dataDir];
    const child = spawn(process.execPath, all, {
      env: { PATH: process.env["PATH"], DATABASE_URI: db.uri, HEDDLE_HOSTS: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
    await expect.poll(() => (child.exitCode === null ? output : until), { timeout: 90_000 }).toContain(until);
    const line = (banner: string) => new RegExp(`^  ${banner} +(.+)$`, "m").exec(output)?.[1];
    return { child, output: () => output, line, exited };
  };
  return { serve, db };
}

/** Returns the pid of the supervised child, if there is one. */
export function tracePid(parent: number): number | undefined {
  const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const found = lines.find((line) => line.includes("--supervised") && Number(line.trim().split(/\s+/)[1]) === parent);
  return found === undefined ? undefined : Number(found.trim().split(/\s+/)[0]);
}
