/** Deployments as containers, with a real engine, real images and real agent servers in them. */
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { describe, expect, test, vi } from "vitest";

import { atEnd } from "../../../../test/at-end.ts";
import { ControlProcess } from "../../../../../test/crash/control-process.ts";
import {
  dropDeploymentDatabases,
  type TestControlPlane,
  testControlPlane,
  testDataDirectory,
} from "../../../../test/control-plane.ts";
import { testDatabase } from "../../../../test/db.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../../../test/deploy.ts";
import { testGitServer } from "../../../../test/git-server.ts";
import { BRIDGE_ADDRESS, hasPodman, importImage, openToContainers, testPodman } from "../../../../test/podman.ts";
import { collectGarbage } from "../../revisions/collect-garbage.ts";
import { LABELS } from "./container-spec.ts";

const SCRIPT = new URL("../../../../../scripts/build/agent-image.mjs", import.meta.url);
const CLIENT = new URL("../../../../../node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs", import.meta.url);
const BASE = "localhost/heddle-agent:test";

/** Body of a deployment that waits for its first image. */
const NOTHING_YET = { source: "internal_docker", source_config: {}, source_revision_config: {}, secrets: [] };

/** Graph that reports its permissions inside the container, and prints on request. */
const PROBE = `import { readFileSync, writeFileSync } from "node:fs";
import { Annotation, StateGraph } from "@langchain/langgraph";
const read = (file) => { try { return readFileSync(file, "utf8"); } catch (error) { return error.code; } };
const write = (file) => { try { writeFileSync(file, "x"); return "written"; } catch (error) { return error.code; } };
const State = Annotation.Root({ seen: Annotation() });
const look = () => ({ seen: {
  status: read("/proc/self/status"),
  memory: [read("/sys/fs/cgroup/memory/memory.limit_in_bytes"), read("/sys/fs/cgroup/memory.max")],
  pids: [read("/sys/fs/cgroup/pids/pids.max"), read("/sys/fs/cgroup/pids.max")],
  cpu: [read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), read("/sys/fs/cgroup/cpu.max")],
  root: write("/written"), project: write("/deps/project/written"), tmp: write("/tmp/written"),
  lines: read("/from-lines"), env: process.env } });
export const graph = new StateGraph(State).addNode("look", look)
  .addEdge("__start__", "look").addEdge("look", "__end__").compile();
`;

interface Seen {
  status: string;
  memory: string[];
  pids: string[];
  cpu: string[];
  env: Record<string, string>;
}

/** Sets up everything here, because hooks declared inside of hooks do not run. */
async function setUp() {
  const db = await testDatabase();
  const way = await openToContainers(Number(new URL(db.uri).port));
  atEnd(() => way.close());
  const reachable = (uri: string): string => {
    const url = new URL(uri);
    url.hostname = "127.0.0.1";
    url.port = String(way.port);
    return url.href;
  };
  const podman = testPodman();
  const engine = { HEDDLE_CONTAINER_ENGINE: podman.address, HEDDLE_LOG_LEVEL: "fatal" };
  const bridged = { ...engine, HEDDLE_CONTAINER_HOST_ADDRESS: BRIDGE_ADDRESS };
  const control = await testControlPlane(
    {
      ...bridged,
      HEDDLE_CONTROL_DRIVER: "container",
      HEDDLE_CONTAINER_BASE_IMAGE: BASE,
      HEDDLE_CONTAINER_PIDS: "300",
      HEDDLE_DEPLOYMENT_DATABASE_URI: reachable(db.uri),
      HEDDLE_DRAIN_SECONDS: "5",
    },
    { db },
  );
  // only its own registry may be used without TLS
  podman.trust(new URL(control.url).host);
  const archive = join(tmpdir(), `heddle-agent-${process.pid}.tar`);
  await promisify(execFile)(process.execPath, [fileURLToPath(SCRIPT), archive]);
  await podman.start();
  await importImage(podman, archive, BASE, ['CMD ["heddle","serve","--role","agent","--config","langgraph.json"]']);
  rmSync(archive);
  const missing = { HEDDLE_CONTAINER_PULL: "missing" };
  const host = await testControlPlane({
    ...engine,
    ...missing,
    HEDDLE_CONTROL_DRIVER: "container",
    HEDDLE_CONTAINER_NETWORK: "host",
    HEDDLE_DEPLOY_UNSEEN_SECONDS: "1",
  });
  const lonely = await testControlPlane({ ...engine, ...missing, HEDDLE_RESTART_MS: "10" });
  const git = await testGitServer();
  atEnd(() => git.close());
  // a control plane that uses the other's registry
  const owner = (await control.call("POST", "/v2/deployments", { ...NOTHING_YET, name: "owner" })).json.id as string;
  const { token } = (await control.call("POST", `/v2/deployments/${owner}/push-token`)).json;
  const registry = { deployment: owner, path: `${new URL(control.url).host}/d/${owner}`, token: token as string };
  const remote = await testControlPlane({
    ...engine,
    HEDDLE_CONTAINER_NETWORK: "host",
    HEDDLE_REGISTRY_URL: registry.path,
    HEDDLE_REGISTRY_PASSWORD: registry.token,
  });
  const killed = await testDatabase();
  const directory = testDataDirectory();
  const process_ = await ControlProcess.create(directory, reachable(killed.uri));
  atEnd(async () => {
    await process_.end("SIGTERM");
    await dropDeploymentDatabases(killed);
    rmSync(directory, { recursive: true, force: true });
  });
  const killedEnvironment = { ...bridged, ...missing };
  const docker = podman.asDocker();
  return { podman, docker, git, registry, remote, control, host, lonely, killed: process_, killedEnvironment };
}

const world = hasPodman ? await setUp() : undefined;

describe.skipIf(!world)("deployments in containers", { timeout: 300_000 }, () => {
  const { podman, docker, git, registry, remote, control, host, lonely, killed, killedEnvironment } =
    world ?? ({} as never);

  const ask = async (path: string, body: unknown) => {
    const response = await fetch(control.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const run = async (name: string, input: object = {}, graph = "echo") => {
    const response = await ask(`/d/${name}/runs/wait`, { assistant_id: graph, input });
    expect(response).toMatchObject({ status: 200 });
    return response.json;
  };
  const containers = async (of: TestControlPlane = control): Promise<string[]> => {
    const filter = `label=${LABELS.place}=${of.control.deps.supervisor.place}`;
    const names = await podman.run("ps", "-a", "--filter", filter, "--format", "{{.Names}}");
    return names.split("\n").filter((name) => name !== "");
  };
  const ourImages = async (): Promise<string[]> => (await podman.images()).filter((name) => /deployments/.test(name));
  const deleteAndWait = async (id: string) => {
    expect((await control.call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
    await vi.waitUntil(async () => (await control.call("GET", `/v2/deployments/${id}`)).status === 404, {
      timeout: 60_000,
    });
  };

  test("a project is built as an image, runs, is replaced, rolled back and deleted completely", async () => {
    const { call, sql, dataDir } = control;
    const id = await createDeployment(call, "boxed", [{ name: "GREETING", value: "hello" }]);
    const project = graphProject("first", {
      "langgraph.json": JSON.stringify({
        graphs: { echo: "./graph.mjs:graph", probe: "./probe.mjs:graph" },
        node_version: "99",
        dockerfile_lines: ["ENV FROM_LINES=kept", "RUN echo written by a line \\\n  > /from-lines"],
      }),
      "probe.mjs": PROBE,
    });
    const resources = { memory_mb: 400, memory_limit_mb: 700, cpu: 1, cpu_limit: 1.5 };
    const first = await deployArchive(call, id, createArchive(project), {
      source_config: { resource_spec: resources, build_command: "node --version && ls" },
    });
    await untilStatus(call, id, first, "DEPLOYED", 120_000);
    expect(await run("boxed", { text: "a" })).toMatchObject({
      word: "first",
      env: "hello",
      steps: ["one:first", "two:first"],
    });

    const build = await logLines(call, id, first, "build");
    expect(build).toContain("Unpacked 3 files.");
    expect(build).toContain(process.version);
    const wrongNode = `warning: the project requires Node 99, but the base image has Node ${process.version}`;
    expect(build).toContain(wrongNode);
    await vi.waitUntil(async () => (await logLines(call, id, first, "deploy")).includes("step two of first"));
    const { seen } = (await run("boxed", {}, "probe")) as { seen: Seen };
    expect(seen.status).toMatch(/CapEff:\t0+\n/);
    expect(seen.status).toMatch(/CapBnd:\t0+\n/);
    expect(seen.status).toMatch(/NoNewPrivs:\t1\n/);
    expect(seen).toMatchObject({ root: "EROFS", project: "EROFS", tmp: "written" });
    expect(seen).toMatchObject({ lines: "written by a line\n", env: { FROM_LINES: "kept" } });
    expect(seen.memory.map((text) => text.trim())).toContain(String(700 * 1024 * 1024));
    expect(seen.pids.map((text) => text.trim())).toContain("300");
    expect(seen.cpu.some((text) => text.startsWith("150000"))).toBe(true);
    expect(seen.env).toMatchObject({ PORT: "8000", GREETING: "hello" });
    expect(seen.env["TMPDIR"]).toBeUndefined();

    const usage = async () => (await call("GET", `/v2/deployments/${id}/instances`)).json.resources[0];
    expect((await usage()).memory_bytes).toBeGreaterThan(1e7);
    await run("boxed");
    expect((await usage()).cpu_percent).toBeGreaterThan(0);

    const second = await deployArchive(call, id, createArchive(graphProject("second")));
    await untilStatus(call, id, second, "DEPLOYED", 120_000);
    expect(await run("boxed")).toMatchObject({ word: "second" });
    await vi.waitUntil(async () => (await containers()).length === 1, { timeout: 60_000 });

    const startedAt = performance.now();
    const back = await call("POST", `/v2/deployments/${id}/revisions/${first}/redeploy`);
    await untilStatus(call, id, back.json.latest_revision_id, "DEPLOYED", 120_000);
    console.log(`back in ${Math.round(performance.now() - startedAt)} ms`);
    expect(await run("boxed")).toMatchObject({ word: "first" });
    expect(await logLines(call, id, back.json.latest_revision_id, "build")).toEqual([]);
    const logged = await logLines(call, id, first, "deploy");
    expect(logged.filter((line) => line === "step one of first")).toHaveLength(2);

    await deleteAndWait(id);
    expect(await containers()).toEqual([]);
    expect(await ourImages()).toEqual([]);
    expect(readdirSync(join(dataDir, "control", "images"))).toEqual([]);
    expect(readdirSync(join(dataDir, "control", "image-builds"))).toEqual([]);
    expect(await sql`select 1 from pg_database where datname = ${`heddle_d_${id.replaceAll("-", "")}`}`).toEqual([]);
  });

  test("a failed build logs its reason and leaves no files or containers", async () => {
    const { call, dataDir } = control;
    const id = await createDeployment(call, "broken");
    const bad = await deployArchive(call, id, createArchive(graphProject("bad")), {
      source_config: { build_command: "node nowhere.mjs" },
    });
    await untilStatus(call, id, bad, "BUILD_FAILED", 120_000);
    expect((await logLines(call, id, bad, "build")).join("\n")).toMatch(/Cannot find module '.*nowhere.mjs'/);
    expect(readdirSync(join(dataDir, "control", "image-builds"))).toEqual([]);
    await deleteAndWait(id);
    expect(await containers()).toEqual([]);
  });

  test("a project's base_image is used where the operator names none, and another server's is rejected", async () => {
    const { call } = host;
    const id = await createDeployment(call, "based");
    const deploy = (config: object) => {
      const text = JSON.stringify({ graphs: { echo: "./graph.mjs:graph" }, ...config });
      return deployArchive(call, id, createArchive(graphProject("based", { "langgraph.json": text })));
    };
    const reasons: [object, string][] = [
      [{}, "HEDDLE_CONTAINER_BASE_IMAGE is not set"],
      [{ base_image: "langchain/langgraphjs-api:20" }, "langchain/langgraphjs-api:20 contains another server"],
      [{ base_image: BASE, dockerfile_lines: ["FROM alpine"] }, '"FROM alpine" is not supported'],
    ];
    for (const [config, reason] of reasons) {
      const revision = await deploy(config);
      await untilStatus(call, id, revision, "BUILD_FAILED", 60_000);
      expect((await logLines(call, id, revision, "build")).join("\n")).toContain(reason);
    }
    await podman.run("tag", BASE, "localhost/own-base:1");
    const built = await deploy({ base_image: "localhost/own-base:1" });
    await untilStatus(call, id, built, "DEPLOYED", 120_000);
    expect(await logLines(call, id, built, "build")).toContain("Building from localhost/own-base:1.");
    expect((await call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
    await vi.waitUntil(async () => (await containers(host)).length === 0, { timeout: 60_000 });
    expect(await podman.images()).toContain("localhost/own-base:1");
  });

  /** Builds an image with its own graph, as a third party would. */
  async function buildImage(name: string, word: string): Promise<void> {
    const home = mkdtempSync(join(tmpdir(), "heddle-context-"));
    for (const [path, text] of Object.entries(graphProject(word))) writeFileSync(join(home, path), text);
    writeFileSync(join(home, "Dockerfile"), `FROM ${BASE}\nADD . /deps/${word}\nWORKDIR /deps/${word}\n`);
    await podman.run("build", "--network", "none", "-t", name, home);
    rmSync(home, { recursive: true });
  }

  test("an image pushed with its deployment's token runs, and one from a registry with a password is pulled", async () => {
    const { call, url, dataDir } = control;
    const { host } = new URL(url);
    const created = await call("POST", "/v2/deployments", {
      name: "pushed",
      source: "internal_docker",
      source_config: { deployment_type: "prod" },
      source_revision_config: {},
      secrets: [{ name: "GREETING", value: "hi" }],
    });
    expect(`${created.status} ${created.text}`).toMatch(/^201/);
    const id: string = created.json.id;
    const { json: issued } = await ask(`/v2/deployments/${id}/push-token`, {});
    const { token, registry_url: registry } = issued as { token: string; registry_url: string };
    expect(new URL(registry).host).toBe(host);
    const image = `${registry.replace(/^http:\/\//, "")}/agent`;
    await buildImage("localhost/pushed:1", "pushed");
    const push = (to: string, password: string) =>
      podman.run(
        "push",
        "--quiet",
        "--tls-verify=false",
        "--creds",
        `oauth2accesstoken:${password}`,
        "localhost/pushed:1",
        to,
      );
    await expect(push(`${image}:v1`, `${token}x`)).rejects.toThrow(
      /unauthorized|password must be a deployment's push token/i,
    );
    await expect(push(`${host}/d/${crypto.randomUUID()}/agent:v1`, token)).rejects.toThrow(
      /another deployment|denied|forbidden/i,
    );
    await push(`${image}:v1`, token);

    const change = (uri: string) =>
      call("PATCH", `/v2/deployments/${id}`, {
        revision_source: "internal_docker",
        source_revision_config: { image_uri: uri },
      });
    expect((await change("docker.io/library/other:1")).status).toBe(422);
    expect((await change("NOT AN IMAGE")).status).toBe(422);
    const first = (await change(`${image}:v1`)).json.latest_revision_id;
    await untilStatus(call, id, first, "DEPLOYED", 120_000);
    expect(await run("pushed", {})).toMatchObject({ word: "pushed", env: "hi" });
    // a digest as reported by Podman, which the registry has never seen
    const unknown = (await change(`${image}@sha256:${"1".repeat(64)}`)).json.latest_revision_id;
    await untilStatus(call, id, unknown, "DEPLOYED", 120_000);
    expect((await logLines(call, id, unknown, "deploy")).join("\n")).toMatch(
      /does not have this digest; using the image that was pushed last/,
    );
    const events = await control.sql<{ status: string }[]>`
      select status from revision_events where revision_id = ${first} order by id`;
    expect(events.map((event) => event.status)).toEqual([
      "CREATING",
      "CREATING",
      "QUEUED",
      "AWAITING_DEPLOY",
      "DEPLOYING",
      "DEPLOYED",
    ]);
    const missing = (await change(`${image}:v9`)).json.latest_revision_id;
    await untilStatus(call, id, missing, "CREATE_FAILED", 60_000);

    // the same registry, for a deployment that knows it only as a third party's
    const login = (password: string) =>
      JSON.stringify({ auths: { [host]: { username: "oauth2accesstoken", password } } });
    const outside = await call("POST", "/v2/deployments", {
      name: "pulled",
      source: "external_docker",
      source_config: { resource_spec: { image_pull_secrets: [{ name: "REGISTRY_LOGIN" }] } },
      source_revision_config: { image_uri: `${image}:v1` },
      secrets: [{ name: "REGISTRY_LOGIN", value: login("wrong") }],
    });
    expect(`${outside.status} ${outside.text}`).toMatch(/^201/);
    const { id: other, latest_revision_id: rejected } = outside.json;
    await untilStatus(call, other, rejected, "CREATE_FAILED", 60_000);
    const why = (await call("GET", `/v2/deployments/${other}/revisions/${rejected}`)).json.status_message;
    expect(why).toMatch(/Could not pull .*(unauthorized|authentication|push token)/i);
    const allowed = await call("PATCH", `/v2/deployments/${other}`, {
      secrets: [{ name: "REGISTRY_LOGIN", value: login(token) }],
    });
    await untilStatus(call, other, allowed.json.latest_revision_id, "DEPLOYED", 120_000);
    const answer = await run("pulled", {});
    expect(answer).toMatchObject({ word: "pushed", env: null });
    const inspected = await podman.run("inspect", ...(await containers()));
    expect(inspected).not.toContain("REGISTRY_LOGIN");

    await deleteAndWait(id);
    await deleteAndWait(other);
    expect(await containers()).toEqual([]);
    expect((await podman.images()).filter((name) => name.startsWith(`${image}:`))).toEqual([]);
    expect(await ourImages()).toEqual([]);
    expect(readdirSync(join(dataDir, "control", "registry"))).toEqual([]);
  });

  test("a repository is built as an image, pushed to the operator's registry and pulled from it", async () => {
    const { call } = control;
    const repository = git.create("boxed-agent");
    const commit = repository.commit(graphProject("versioned"));
    const { json: integration } = await call("POST", "/v2/integrations/git", {
      name: "here",
      kind: "github",
      url: git.url,
      token: git.token,
    });
    const created = await call("POST", "/v2/deployments", {
      name: "versioned",
      source: "github",
      source_config: { repo_url: repository.url, integration_id: integration.id },
      source_revision_config: { repo_ref: "main", langgraph_config_path: "langgraph.json" },
      secrets: [],
    });
    expect(`${created.status} ${created.text}`).toMatch(/^201/);
    await untilStatus(call, created.json.id, created.json.latest_revision_id, "DEPLOYED", 120_000);
    expect(await run("versioned")).toMatchObject({ word: "versioned" });
    const build = await logLines(call, created.json.id, created.json.latest_revision_id, "build");
    expect(build).toContain(`Fetched commit ${commit}.`);
    await deleteAndWait(created.json.id);

    const { path, token } = registry;
    const { id } = (await remote.call("POST", "/v2/deployments", { ...NOTHING_YET, name: "far" })).json;
    const issued = (await remote.call("POST", `/v2/deployments/${id}/push-token`)).json;
    expect(issued).toEqual({ token, registry_url: `https://${path}/${id}` });
    const image = `${path}/${id}/agent:1`;
    await buildImage("localhost/far:1", "far");
    await podman.run("push", "--quiet", "--creds", `oauth2accesstoken:${token}`, "localhost/far:1", image);
    await podman.run("rmi", "localhost/far:1");
    const change = (uri: string) =>
      remote.call("PATCH", `/v2/deployments/${id}`, {
        revision_source: "internal_docker",
        source_revision_config: { image_uri: uri },
      });
    expect((await change(`${path}/${crypto.randomUUID()}/agent:1`)).status).toBe(422);
    const { latest_revision_id: revision } = (await change(image)).json;
    await untilStatus(remote.call, id, revision, "DEPLOYED", 120_000);
    const response = await fetch(`${remote.url}/d/far/runs/wait`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input: {} }),
    });
    expect(await response.json()).toMatchObject({ word: "far" });
    expect((await logLines(remote.call, id, revision, "deploy"))[0]).toBe(`Pulling ${image}.`);
    await remote.stop();
    await deleteAndWait(registry.deployment);
  });

  test("the official client builds an image, pushes it with its token, and deploys it, twice", async () => {
    const home = mkdtempSync(join(tmpdir(), "heddle-docked-"));
    const deploy = async (word: string): Promise<Record<string, string>> => {
      const files = { ...graphProject(word), "package.json": JSON.stringify({ name: "docked", private: true }) };
      for (const [path, text] of Object.entries(files)) writeFileSync(join(home, path), text);
      const options = [
        "--host-url",
        control.url,
        "--api-key",
        "any",
        "--no-remote",
        "--no-pull",
        "--no-input",
        "--json",
      ];
      const env = { ...process.env, PATH: `${docker}:${process.env["PATH"]}`, LANGGRAPH_CLI_NO_ANALYTICS: "1" };
      const args = [fileURLToPath(CLIENT), "deploy", "--name", "docked", "--base-image", BASE, ...options];
      const { stdout, output } = await new Promise<{ stdout: string; output: string }>((resolve) =>
        execFile(process.execPath, args, { cwd: home, env }, (error, out, err) =>
          resolve({ stdout: out, output: `${error?.message ?? ""}${out}${err}` }),
        ),
      );
      const line = stdout.trim().split("\n").at(-1) ?? "";
      if (!line.includes('"succeeded"')) throw new Error(output);
      return JSON.parse(line) as Record<string, string>;
    };
    try {
      const first = await deploy("docked");
      expect(first["url"]).toBe(`${control.url}/d/docked`);
      expect(await run("docked")).toMatchObject({ word: "docked" });
      // the second image shares all layers but one
      const second = await deploy("docked anew");
      expect(second["deployment_id"]).toBe(first["deployment_id"]);
      expect(await run("docked")).toMatchObject({ word: "docked anew" });
      await deleteAndWait(first["deployment_id"]!);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  test("removes a container without a row, and keeps a container whose engine is unreachable", async () => {
    const place = control.control.deps.supervisor.place;
    const stray = ["--label", `${LABELS.place}=${place}`, "--label", `${LABELS.instance}=${crypto.randomUUID()}`];
    await podman.run("run", "-d", ...stray, BASE, "/bin/sh", "-c", "while true; do cat /etc/passwd > /dev/null; done");
    expect(await containers()).toHaveLength(1);
    await collectGarbage(control.control.deps);
    expect(await containers()).toEqual([]);

    await buildImage("localhost/lasting:1", "lasting");
    const created = await host.call("POST", "/v2/deployments", {
      name: "lasting",
      source: "external_docker",
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: "localhost/lasting:1" },
      secrets: [],
    });
    const { id, latest_revision_id: revision } = created.json;
    await untilStatus(host.call, id, revision, "DEPLOYED", 120_000);
    const ask = async () => {
      const response = await fetch(`${host.url}/d/lasting/runs/wait`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ assistant_id: "echo", input: {} }),
      });
      return ((await response.json()) as { word: string }).word;
    };
    expect(await ask()).toBe("lasting");
    await podman.stop();
    await sleep(1500);
    expect(await ask()).toBe("lasting");
    const change = (uri: string) =>
      host.call("PATCH", `/v2/deployments/${id}`, { source_revision_config: { image_uri: uri } });
    const failed = (await change("localhost/lasting:1")).json.latest_revision_id;
    await untilStatus(host.call, id, failed, "CREATE_FAILED", 120_000);
    const { json } = await host.call("GET", `/v2/deployments/${id}/revisions/${failed}`);
    expect(json.status_message).toMatch(/container engine at unix:.* does not answer/);
    await podman.start();

    // an engine that becomes unreachable during a deployment
    const unseen = (await change("localhost/lasting:1")).json.latest_revision_id;
    await vi.waitUntil(async () => (await containers(host)).length === 2, { timeout: 60_000, interval: 100 });
    await podman.stop();
    await untilStatus(host.call, id, unseen, "UNKNOWN", 60_000);
    const response = await host.call("GET", `/v2/deployments/${id}/revisions/${unseen}`);
    expect(response.json.status_message).toContain("the state of the instances is unknown");
    expect(await ask()).toBe("lasting");
    await podman.start();
    await untilStatus(host.call, id, unseen, "DEPLOYED", 120_000);
    const again = (await change("localhost/lasting:1")).json.latest_revision_id;
    await untilStatus(host.call, id, again, "DEPLOYED", 120_000);
    expect(await ask()).toBe("lasting");
    await vi.waitUntil(async () => (await containers(host)).length === 1, { timeout: 60_000, interval: 200 });
    await host.stop();
    expect(await containers(host)).toEqual([]);
  });

  test("does not start containers that cannot reach the database, with the reason", async () => {
    const created = await lonely.call("POST", "/v2/deployments", {
      name: "lonely",
      source: "external_docker",
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: BASE },
      secrets: [],
    });
    const { id, latest_revision_id: revision } = created.json;
    await untilStatus(lonely.call, id, revision, "DEPLOY_FAILED", 60_000);
    const lines = await logLines(lonely.call, id, revision, "deploy");
    expect(lines.join("\n")).toMatch(/cannot reach .*DATABASE_URI\. Set HEDDLE_CONTAINER_HOST_ADDRESS/);
    expect(await containers(lonely)).toEqual([]);
  });

  test("containers survive a killed control plane, are adopted, and each log line is read once", async () => {
    const { call } = killed;
    await buildImage("localhost/adopted:1", "adopted");
    await killed.start(killedEnvironment);
    const { json } = await call("POST", "/v2/deployments", {
      name: "adopted",
      source: "external_docker",
      source_config: { resource_spec: {} },
      source_revision_config: { image_uri: "localhost/adopted:1" },
      secrets: [],
    });
    const { id, latest_revision_id: revision } = json;
    await untilStatus(call, id, revision, "DEPLOYED", 120_000);
    // a long wait begins with line feeds
    const runEcho = async () => {
      const { text } = await call("POST", "/d/adopted/runs/wait", { assistant_id: "echo", input: {} });
      return JSON.parse(text) as { word?: string };
    };
    // the route is known a moment after the state
    await vi.waitUntil(async () => (await runEcho()).word === "adopted", { timeout: 30_000 });
    const lines = async () =>
      (await logLines(call, id, revision, "deploy")).filter((line) => line === "step one of adopted");
    await vi.waitUntil(async () => (await lines()).length === 1);
    const running = () => podman.run("ps", "--filter", `label=${LABELS.deployment}=${id}`, "--format", "{{.ID}}");
    const before = await running();
    await killed.end("SIGKILL");
    expect(await running()).toBe(before);
    await killed.start(killedEnvironment);
    expect(await runEcho()).toMatchObject({ word: "adopted" });
    await vi.waitUntil(async () => (await lines()).length === 2, { timeout: 30_000 });
    expect(await running()).toBe(before);
    expect((await call("DELETE", `/v2/deployments/${id}`)).status).toBe(204);
    await vi.waitUntil(async () => (await call("GET", `/v2/deployments/${id}`)).status === 404, { timeout: 60_000 });
    expect(await running()).toBe("");
  });
});
