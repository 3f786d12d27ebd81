/** A platform as operators run it, and its commands, in a directory and as a user of the test's choice. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { expect, vi } from "vitest";

import { stopAbandonedPostgres } from "../../server/src/base/db/embedded-postgres.ts";
import { freePort } from "../../server/src/base/free-port.ts";
import { atEnd } from "../../server/test/at-end.ts";
import type { Call } from "../../server/test/call.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../server/test/deploy.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
export const isRoot = process.getuid?.() === 0;
export const NOBODY = 65_534;
const PASSPHRASE = { HEDDLE_BACKUP_PASSPHRASE: "correct horse battery" };

export interface Place {
  dataDir: string;
  /** Whether it runs as a user without rights, if this test may choose. */
  isPlainUser?: boolean;
  env?: Record<string, string>;
}

/** Returns the command that runs the launcher in a place. */
function command({ isPlainUser = false }: Place, args: string[]): [file: string, args: string[]] {
  const launch = [process.execPath, "cli/bin/heddle.js", ...args];
  const identity = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", "--"];
  return isPlainUser && isRoot ? ["setpriv", [...identity, ...launch]] : [launch[0]!, launch.slice(1)];
}

const environment = (place: Place, more: Record<string, string> = {}) => ({
  PATH: process.env["PATH"],
  HOME: place.dataDir,
  TMPDIR: place.dataDir,
  HEDDLE_AUTH: "required",
  HEDDLE_CONSOLE: "false",
  HEDDLE_MIN_HEALTHY_MS: "100",
  ...place.env,
  ...more,
});

/** Runs a command as the place's user, or as another one. */
export function tryHeddle(place: Place, uid: number | undefined, ...args: string[]) {
  const launch = [process.execPath, "cli/bin/heddle.js", ...args];
  const identity = ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--"];
  const [file, ...all] = uid === undefined ? launch : [...identity, ...launch];
  // of compiled sources, which a user without a home keeps there
  const env = { ...environment(place, PASSPHRASE), HOME: "/var/tmp", TMPDIR: "/var/tmp" };
  const { status, stdout, stderr } = spawnSync(file!, all, { cwd: repository, env, encoding: "utf8" });
  return { status, text: `${stdout}\n${stderr}`, stdout };
}

export function heddle(place: Place, ...args: string[]) {
  const [file, all] = command(place, [...args, "--data-dir", place.dataDir, "--json"]);
  const output = execFileSync(file, all, { cwd: repository, env: environment(place, PASSPHRASE), stdio: "pipe" });
  return JSON.parse(output.toString()) as Record<string, never>;
}

/** `heddle up` on free ports. */
export class Platform {
  readonly #place: Place;
  #child: ChildProcess | undefined;
  url = "";
  traceUrl = "";
  key = "";

  constructor(place: Place) {
    this.#place = place;
    atEnd(() => this.stop());
  }

  get log(): string {
    return readFileSync(join(this.#place.dataDir, "up.log"), "utf8");
  }

  async start(): Promise<void> {
    const [control, trace] = [await freePort(), await freePort()];
    const args = ["up", "--control-port", String(control), "--trace-port", String(trace)];
    const [file, all] = command(this.#place, [...args, "--data-dir", this.#place.dataDir]);
    const output = openSync(join(this.#place.dataDir, "up.log"), "a");
    // not that of the tests, which is `none`
    const env = environment(this.#place, { HEDDLE_PROCESS_ISOLATION: "auto", ...this.#place.env });
    const child = (this.#child = spawn(file, all, { cwd: repository, stdio: ["ignore", output, output], env }));
    closeSync(output);
    [this.url, this.traceUrl] = [`http://127.0.0.1:${control}`, `http://127.0.0.1:${trace}`];
    const answers = (url: string) =>
      fetch(`${url}/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    await vi.waitUntil(
      async () => {
        if (child.exitCode !== null) throw new Error(`the platform did not start:\n${this.log}`);
        return (await answers(this.url)) && (await answers(this.traceUrl));
      },
      { timeout: 180_000, interval: 200 },
    );
    this.key ||= /(?<=Key {7})\S+/.exec(this.log)?.[0] ?? "";
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((done) => child.once("exit", done));
    child.kill("SIGTERM");
    await Promise.race([exited, sleep(60_000, undefined, { ref: false })]);
    child.kill("SIGKILL");
    await stopAbandonedPostgres(this.#place.dataDir).catch(() => {});
  }

  readonly call: Call = (method, path, body, headers) => this.#send(this.url, method, path, body, headers);
  readonly trace: Call = (method, path, body, headers) => this.#send(this.traceUrl, method, path, body, headers);

  async #send(...[url, method, path, body, headers = {}]: [string, ...Parameters<Call>]): ReturnType<Call> {
    const isText = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      headers: {
        "x-api-key": this.key,
        ...(body !== undefined && { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: (isText ? body : JSON.stringify(body)) as string }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: /^[[{]/.test(text) ? JSON.parse(text) : undefined,
    };
  }
}

/** Reads back a thread and traces of the deployment "bot" through the API, and runs it. */
export async function expectAll(platform: Platform, thread: string): Promise<void> {
  const { call, trace } = platform;
  // its build is made first
  await vi.waitUntil(async () => (await call("GET", "/d/bot/ok")).status === 200, { timeout: 180_000, interval: 500 });
  const state = await call("GET", `/d/bot/threads/${thread}/state`);
  expect(`${state.status} ${JSON.stringify(state.json?.values)}`).toMatch(/^200 .*"word":"bot"/);
  const run = await call("POST", `/d/bot/threads/${thread}/runs/wait`, {
    assistant_id: "echo",
    input: { text: "again" },
  });
  expect(run.json).toMatchObject({ text: "again", env: "hello" });
  await vi.waitUntil(
    async () => {
      const projects = (await trace("GET", "/sessions?name=bot")).json as unknown as { id: string }[];
      if (projects.length === 0) return false;
      const query = { session: projects.map((project) => project.id), is_root: true };
      return (await trace("POST", "/runs/query", query)).json.runs?.length >= 1;
    },
    { timeout: 60_000, interval: 500 },
  );
}

/** Deploys the project "bot" and runs it. @returns the ids of deployment, revision and thread */
export async function deployBot(platform: Platform): Promise<{ id: string; revision: string; thread: string }> {
  const { call } = platform;
  expect(platform.key).not.toBe("");
  const id = await createDeployment(call, "bot", [{ name: "GREETING", value: "hello" }]);
  const revision = await deployArchive(call, id, createArchive(graphProject("bot")));
  await untilStatus(call, id, revision, "DEPLOYED", 180_000);
  const thread = (await call("POST", "/d/bot/threads", {})).json.thread_id as string;
  await call("POST", `/d/bot/threads/${thread}/runs/wait`, { assistant_id: "echo", input: { text: "first" } });
  await expectAll(platform, thread);
  return { id, revision, thread };
}
