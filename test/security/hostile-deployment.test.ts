/**
 * A hostile deployment: its graph and its npm postinstall try to reach the platform and a neighbour. With isolation
 * every attempt fails and the deployment works; without it they succeed, which shows that the attempts are real.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, afterEach, expect, test, vi } from "vitest";

import { tryIsolation } from "../../server/src/control/drivers/process/isolation/choose-isolation.ts";
import type { IsolationKind } from "../../server/src/control/drivers/process/isolation/isolation.ts";
import { testDataDirectory } from "../../server/test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../server/test/deploy.ts";
import type { Call } from "../../server/test/call.ts";
import { ControlProcess, findProcesses } from "../crash/control-process.ts";

const LAUNCHER = fileURLToPath(new URL("../../cli/bin/heddle.js", import.meta.url));
const PROJECT = new URL("hostile-project/", import.meta.url);
const SLOW = 240_000;
const NEIGHBOUR_SECRET = "a-secret-of-the-neighbour";
const PLATFORM_SECRET = "a-secret-of-the-platform";

const directory = testDataDirectory();
mkdirSync(join(directory, "control"));
const control = await ControlProcess.create(directory, "");
let key = "";
const call: Call = (method, path, body, headers = {}) =>
  control.call(method, path, body, { ...headers, "x-api-key": key });

afterEach(() => control.end("SIGTERM"));
afterAll(async () => {
  await control.end("SIGTERM");
  rmSync(directory, { recursive: true, force: true });
});

async function start(mode: IsolationKind): Promise<void> {
  await control.start({ HEDDLE_PROCESS_ISOLATION: mode, HEDDLE_AUTH: "required", PLATFORM_SECRET });
  key ||= /lsv2_\w+/.exec(readFileSync(join(directory, "control.log"), "utf8"))?.[0] ?? "";
  expect(key).not.toBe("");
}

const inData = (...names: string[]): string => join(directory, ...names);

/** Returns the neighbour, once it runs. */
async function neighbour(): Promise<{ id: string; pid: number; instance: string; source: string }> {
  const { json } = await call("GET", "/v2/deployments?name_contains=neighbour");
  const known = (json.resources as { id: string; name: string }[]).find(({ name }) => name === "neighbour");
  const id = known?.id ?? (await createDeployment(call, "neighbour", [{ name: "WORD", value: NEIGHBOUR_SECRET }]));
  if (!known)
    await untilStatus(call, id, await deployArchive(call, id, createArchive(graphProject("word"))), "DEPLOYED", SLOW);
  const revision = (await call("GET", `/v2/deployments/${id}`)).json.active_revision_id as string;
  const instance = await vi.waitUntil(
    async () => {
      const { json: instances } = await call("GET", `/v2/deployments/${id}/instances`);
      return (instances.resources as { id: string; state: string }[]).find(({ state }) => state === "ready")?.id;
    },
    { timeout: SLOW, interval: 100 },
  );
  const home = inData("control", "instances", instance);
  const pid = findProcesses(instance, "--role\0agent").at(-1)!;
  return { id, pid, instance: home, source: inData("control", "builds", revision, "src") };
}

/** Deploys the hostile project. @returns the outcomes of its postinstall and of its graph */
async function deployHostile(name: string) {
  const victim = await neighbour();
  const postgresPort = readFileSync(inData("postgres", "port"), "utf8").trim();
  const targets = {
    dataDir: directory,
    secretsKeys: inData("secrets.keys"),
    platformLog: inData("control.log"),
    postgresPassword: inData("postgres", "password"),
    postgresPort,
    postgresSocket: inData("postgres", "data", `.s.PGSQL.${postgresPort}`),
    neighbourSource: victim.source,
    neighbourCache: cacheDirectory(victim.id),
    neighbourInstance: victim.instance,
    neighbourPid: victim.pid,
    neighbourSecret: NEIGHBOUR_SECRET,
    platformPid: control.pid,
    platformSecret: PLATFORM_SECRET,
    launcher: LAUNCHER,
    controlUrl: control.url,
  };
  for (const path of [targets.secretsKeys, targets.postgresPassword, targets.postgresSocket, targets.neighbourCache])
    expect(existsSync(path)).toBe(true);
  const files = Object.fromEntries(
    readdirSync(PROJECT).map((file) => [file, readFileSync(new URL(file, PROJECT), "utf8")]),
  );
  const id = await createDeployment(call, name);
  const archive = createArchive({ ...files, "targets.json": JSON.stringify(targets) });
  const revision = await deployArchive(call, id, archive);
  await untilStatus(call, id, revision, "DEPLOYED", SLOW);
  const line = (await logLines(call, id, revision, "build")).find((text) => text.startsWith("OUTCOME "));
  const post = await call("POST", `/d/${name}/runs/wait`, { assistant_id: "hostile", input: {} });
  expect(`${post.status} ${post.text}`).toMatch(/^200/);
  const app = await call("GET", `/d/${name}/anything`);
  return {
    id,
    revision,
    built: JSON.parse(line!.slice(8)) as Outcome,
    ran: JSON.parse(post.text) as Outcome,
    app: app.text,
  };
}

interface Outcome {
  succeeded: string[];
  failed: string[];
}

/** Returns the package manager's cache directory of a deployment's builds. */
const cacheDirectory = (id: string): string => {
  const own = inData("control", "deployments", id, "cache");
  return existsSync(own) ? own : inData("control", "cache");
};

const NEVER = ["call the control plane without a key", "read the platform's tables as its own database user"];

test(
  "without isolation a hostile deployment reaches everything except what keys and Postgres protect",
  { timeout: SLOW },
  async () => {
    await start("none");
    const { built, ran, app } = await deployHostile("hostile-none");
    expect(app).toBe("an app of its own");
    for (const { succeeded } of [built, ran]) {
      expect(succeeded.filter((name) => NEVER.includes(name))).toEqual([]);
      expect(succeeded).toEqual(
        expect.arrayContaining([
          "read the key of the secrets",
          "read a neighbour's environment",
          "signal the platform",
        ]),
      );
      expect(succeeded.length).toBeGreaterThan(18);
    }
  },
);

for (const mode of ["bubblewrap", "user"] as const) {
  const settings = { processIsolation: mode, processReadable: "" };
  const tried = await tryIsolation(mode, { directory: inData("control"), launcher: LAUNCHER, settings });
  test.skipIf("problem" in tried)(
    `${mode}: every attack of a hostile deployment fails, and the deployment works`,
    { timeout: SLOW },
    async () => {
      await start(mode);
      const { id, revision, built, ran, app } = await deployHostile(`hostile-${mode}`);
      expect(built).toEqual({ succeeded: [], failed: [] });
      expect(ran).toEqual({ succeeded: [], failed: [] });
      expect(app).toBe("an app of its own");
      expect((await call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
      await vi.waitUntil(() => !existsSync(inData("control", "deployments", id)), { timeout: 30_000 });
      expect(existsSync(inData("control", "builds", revision))).toBe(false);
      expect(findProcesses(revision, "")).toEqual([]);
    },
  );
}
