/**
 * The drill of a platform with deployments: a backup while it runs, a restore on "another machine" (another directory,
 * user and ports) beside it, and after its loss one in its own place. Everything is served again without a hand's turn.
 * As root, deployments have system users of their own.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, closeSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test, vi } from "vitest";

import { stopAbandonedPostgres } from "../../server/src/base/db/embedded-postgres.ts";
import { freePort } from "../../server/src/base/free-port.ts";
import type { Call } from "../../server/test/call.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import { createArchive, createDeployment, deployArchive, graphProject, untilStatus } from "../../server/test/deploy.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;
const PASSPHRASE = { HEDDLE_BACKUP_PASSPHRASE: "correct horse battery" };
const home = testDataDirectory();
const elsewhere = testDataDirectory();
const archives = testDataDirectory();
const platforms: Platform[] = [];

interface Place {
  dataDir: string;
  /** Whether it runs as a user without rights, if this test may choose. */
  isPlainUser: boolean;
}

/** Returns the command that runs the launcher in a place. */
function command({ isPlainUser }: Place, args: string[]): [file: string, args: string[]] {
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
  ...more,
});

function heddle(place: Place, ...args: string[]) {
  const [file, all] = command(place, [...args, "--data-dir", place.dataDir, "--json"]);
  const output = execFileSync(file, all, { cwd: repository, env: environment(place, PASSPHRASE), stdio: "pipe" });
  return JSON.parse(output.toString()) as Record<string, never>;
}

/** `heddle up` on free ports. */
class Platform {
  readonly #place: Place;
  #child: ChildProcess | undefined;
  url = "";
  traceUrl = "";
  key = "";

  constructor(place: Place) {
    this.#place = place;
    platforms.push(this);
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
    const env = environment(this.#place, { HEDDLE_PROCESS_ISOLATION: "auto" });
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

afterAll(async () => {
  for (const platform of platforms) await platform.stop();
  for (const directory of [home, elsewhere, archives]) rmSync(directory, { recursive: true, force: true });
});

/** Reads back everything through the API. */
async function expectAll(platform: Platform, thread: string): Promise<void> {
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

test("a platform with deployments is restored on another machine, and in its own place", async () => {
  const here = { dataDir: home, isPlainUser: false };
  const platform = new Platform(here);
  await platform.start();
  const { call } = platform;
  expect(platform.key).not.toBe("");
  const id = await createDeployment(call, "bot", [{ name: "GREETING", value: "hello" }]);
  const revision = await deployArchive(call, id, createArchive(graphProject("bot")));
  await untilStatus(call, id, revision, "DEPLOYED", 180_000);
  const { json: created } = await call("POST", "/d/bot/threads", {});
  const thread = created.thread_id as string;
  await call("POST", `/d/bot/threads/${thread}/runs/wait`, { assistant_id: "echo", input: { text: "first" } });
  await expectAll(platform, thread);
  const source = join(home, "control", "builds", revision, "src");
  if (isRoot) expect(statSync(source).uid).toBeGreaterThan(2 ** 16);

  const [small, large] = [join(archives, "small.tar"), join(archives, "large.tar")];
  expect(heddle(here, "backup", small)).toMatchObject({
    builds: { copied: 0, left_out: 1 },
    authenticated: true,
    notes: [],
  });
  expect(heddle(here, "backup", large, "--with-builds")).toMatchObject({ builds: { copied: 1, left_out: 0 } });
  const names = execFileSync("tar", ["-tf", large], { maxBuffer: 2 ** 26 }).toString();
  expect(names).toContain(`control/builds/${revision}/src/graph.mjs`);
  expect(execFileSync("tar", ["-tf", small]).toString()).not.toContain("graph.mjs");

  // another machine, while the first one serves
  if (isRoot) for (const path of [elsewhere, archives, small, large]) chownSync(path, NOBODY, NOBODY);
  const there = { dataDir: elsewhere, isPlainUser: true };
  expect(heddle(there, "restore", small, "--authenticated")).toMatchObject({
    authenticated: true,
    deployments: [{ name: "bot", build: "rebuilt" }],
  });
  const second = new Platform(there);
  second.key = platform.key;
  await second.start();
  await expectAll(second, thread);
  expect(second.log).toContain("the build of bot is missing; building it again");
  const active = (await second.call("GET", `/v2/deployments/${id}`)).json.active_revision_id;
  expect(readdirSync(join(elsewhere, "control", "builds"))).toEqual([active]);
  await second.stop();
  // the first one has not noticed
  await expectAll(platform, thread);
  expect((await call("GET", `/v2/deployments/${id}`)).json.active_revision_id).toBe(revision);

  // its own place, with builds
  await platform.stop();
  rmSync(home, { recursive: true });
  expect(heddle(here, "restore", large)).toMatchObject({ deployments: [{ name: "bot", build: "restored" }] });
  const third = new Platform(here);
  third.key = platform.key;
  await third.start();
  await expectAll(third, thread);
  expect((await third.call("GET", `/v2/deployments/${id}`)).json.latest_revision_id).toBe(revision);
  if (isRoot) expect(statSync(source).uid).toBeGreaterThan(2 ** 16);
}, 1_200_000);
