/** Source code that becomes pods: built and pushed with a real engine to a real registry, pulled by a real cluster. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { beforeAll, describe, expect, test, vi } from "vitest";

import { ControlProcess } from "../../../../test/crash/control-process.ts";
import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { startCluster, type TestCluster } from "../../../../test/kubernetes/cluster.ts";
import { atEnd } from "../../../test/at-end.ts";
import type { Call } from "../../../test/call.ts";
import { dropDeploymentDatabases, testDataDirectory } from "../../../test/control-plane.ts";
import { testDatabase, type TestDatabase } from "../../../test/db.ts";
import {
  createArchive,
  deployArchive,
  graphProject,
  logLines,
  revisionStatus,
  untilStatus,
} from "../../../test/deploy.ts";
import { testTenants } from "../../../test/identity.ts";
import { hasImageRegistry, REGISTRY_PASSWORD, TestImageRegistry } from "../../../test/image-registry.ts";
import { BRIDGE_ADDRESS, openToContainers } from "../../../test/podman.ts";

const SCRIPT = fileURLToPath(new URL("../../../../scripts/build/agent-image.mjs", import.meta.url));
const BASE = "localhost/heddle-agent:test";
const NAMESPACE = "agents";
const REPOSITORY = "team/heddle";
const ROLLOUT_MS = 300_000;

interface World {
  cluster: TestCluster;
  registry: TestImageRegistry;
  control: ControlProcess;
  db: TestDatabase;
  key: string;
  call: Call;
  directory: string;
  environment: Record<string, string>;
}

/** HEDDLE_TEST_AGENT_IMAGE: archive of the base image, so that it is not built here. */
async function setUp(): Promise<World> {
  const cluster = await startCluster({ nodes: ["node-1"], backoffMs: 300 });
  atEnd(() => cluster.stop());
  const built = process.env["HEDDLE_TEST_AGENT_IMAGE"];
  const archive = built ?? join(tmpdir(), `heddle-agent-${process.pid}.tar`);
  if (built === undefined) await promisify(execFile)(process.execPath, [SCRIPT, archive]);
  await cluster.importImage(archive, BASE, ['CMD ["heddle","serve","--role","agent","--config","langgraph.json"]']);
  if (built === undefined) rmSync(archive);
  const registry = await TestImageRegistry.start();
  cluster.podman.trust(registry.address);
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
  await cluster.client.call("POST", "/api/v1/namespaces", namespace);
  const db = await testDatabase();
  const way = await openToContainers(Number(new URL(db.uri).port));
  atEnd(() => way.close());
  const reachable = new URL(db.uri);
  reachable.hostname = "127.0.0.1";
  reachable.port = String(way.port);
  const { a } = await testTenants(db);
  const directory = testDataDirectory();
  const control = await ControlProcess.create(directory, db.uri);
  atEnd(async () => {
    await control.end("SIGTERM");
    await dropDeploymentDatabases(db);
    rmSync(directory, { recursive: true, force: true });
  });
  const environment = {
    HEDDLE_AUTH: "required",
    HEDDLE_HOST: "0.0.0.0",
    HEDDLE_CONTROL_DRIVER: "kubernetes",
    HEDDLE_KUBECONFIG: cluster.kubeconfig,
    HEDDLE_KUBERNETES_NAMESPACE: NAMESPACE,
    HEDDLE_KUBERNETES_HOST_ADDRESS: BRIDGE_ADDRESS,
    HEDDLE_KUBERNETES_REGISTRY: `${registry.address}/${REPOSITORY}`,
    HEDDLE_KUBERNETES_REGISTRY_CONFIG: registry.writeLogin(),
    HEDDLE_CONTAINER_ENGINE: cluster.podman.address,
    HEDDLE_CONTAINER_BASE_IMAGE: BASE,
    HEDDLE_CONTROL_INTERNAL_URL: control.url.replace("127.0.0.1", BRIDGE_ADDRESS),
    HEDDLE_DEPLOYMENT_DATABASE_URI: reachable.href,
    HEDDLE_DEPLOY_READY_SECONDS: "200",
    HEDDLE_LOG_LEVEL: "debug",
  };
  await control.start(environment);
  const call: Call = (method, path, body, headers = {}) =>
    control.call(method, path, body, { "x-api-key": a.admin, ...headers });
  return { cluster, registry, control, db, key: a.admin, call, directory, environment };
}

describe.skipIf(missingPrograms().length > 0 || !hasImageRegistry)("source code in Kubernetes", () => {
  let world: World;
  let call: Call;
  let id: string;
  const revisions: string[] = [];

  beforeAll(async () => {
    world = await setUp();
    ({ call } = world);
    const created = await call("POST", "/v2/deployments", {
      name: "agent",
      source: "internal_source",
      source_config: {
        deployment_type: "dev",
        resource_spec: { cpu: 0.1, cpu_limit: 2, memory_mb: 256, memory_limit_mb: 1024, min_scale: 1, max_scale: 1 },
      },
      source_revision_config: {},
      secrets: [{ name: "GREETING", value: "hello" }],
    });
    if (created.status !== 201) throw new Error(created.text);
    ({ id } = created.json);
  });

  const deploy = async (word: string, body: object = {}, more: Record<string, string> = {}) => {
    const revision = await deployArchive(call, id, createArchive(graphProject(word, more)), body);
    revisions.push(revision);
    return revision;
  };
  /** Deploys a project whose build takes 6 s. Resolves when its build command runs. */
  const deployWaiting = async (word: string) => {
    const script = `console.log("waiting for ${word}"); setTimeout(() => {}, 6000);`;
    const revision = await deploy(
      word,
      { source_config: { build_command: "node build.mjs" } },
      { "build.mjs": script },
    );
    const hasStarted = async () => (await logLines(call, id, revision, "build")).includes(`waiting for ${word}`);
    await vi.waitUntil(hasStarted, { timeout: 120_000, interval: 100 });
    return revision;
  };
  const run = async () => {
    const response = await fetch(`${world.control.url}/d/agent/runs/wait`, {
      method: "POST",
      headers: { "x-api-key": world.key, "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input: {} }),
    });
    const text = await response.text();
    return response.ok ? (JSON.parse(text) as { word: string; env: string }) : `${response.status} ${text}`;
  };
  const builtImage = async (revision: string) =>
    (await world.db.sql<{ built_image: string }[]>`select built_image from revisions where id = ${revision}`)[0]!
      .built_image;
  const images = async (): Promise<string[]> => {
    const pods = (await world.cluster.client.call("GET", `/api/v1/namespaces/${NAMESPACE}/pods`)) as {
      items: { metadata: { deletionTimestamp?: string }; spec: { containers: { image: string }[] } }[];
    };
    return pods.items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.containers[0]!.image);
  };
  /** Names of the engine's images in the repository. */
  const kept = async () => {
    const list = await world.cluster.podman.run("images", "--format", "{{.Repository}}:{{.Tag}}");
    return list.split("\n").filter((name) => name.includes(REPOSITORY) && !name.endsWith(":<none>"));
  };

  test("an uploaded project is built, pushed, and answers in a pod that runs its digest", async () => {
    const revision = await deploy("one");
    await untilStatus(call, id, revision, "DEPLOYED", ROLLOUT_MS);
    expect(await run()).toMatchObject({ word: "one", env: "hello" });
    const image = await builtImage(revision);
    expect(image).toMatch(new RegExp(`^${world.registry.address}/${REPOSITORY}@sha256:[0-9a-f]{64}$`));
    expect(await images()).toEqual([image]);
    expect(world.registry.tags(REPOSITORY)).toEqual([`${id}.${revision}.1`]);
    expect((await logLines(call, id, revision, "build")).at(-1)).toBe(`Pushed ${image}.`);
    expect(await kept()).toEqual([]);
    // this cluster has no metrics API
    const metrics = async () => (await call("GET", `/v2/deployments/${id}/instances`)).json.resources[0];
    await expect.poll(metrics, { timeout: 60_000, interval: 500 }).toMatchObject({
      memory_bytes: null,
      cpu_percent: null,
      usage_message: expect.stringContaining("has no metrics API (metrics.k8s.io)"),
    });
  });

  test("new source is a new revision, and a rollback runs the first image without a build", async () => {
    const second = await deploy("two");
    await untilStatus(call, id, second, "DEPLOYED", ROLLOUT_MS);
    expect(await run()).toMatchObject({ word: "two" });
    const rolled = await call("POST", `/v2/deployments/${id}/revisions/${revisions[0]}/redeploy`);
    expect(`${rolled.status} ${rolled.text}`).toMatch(/^20/);
    const { json } = await call("GET", `/v2/deployments/${id}`);
    await untilStatus(call, id, json.latest_revision_id, "DEPLOYED", ROLLOUT_MS);
    expect(await run()).toMatchObject({ word: "one" });
    expect(await builtImage(json.latest_revision_id)).toBe(await builtImage(revisions[0]!));
    expect(world.registry.tags(REPOSITORY)).toHaveLength(2);
  });

  test("a broken build fails with its log, and the serving revision stays", async () => {
    const script = 'console.log("preparing"); console.error("no compiler here"); process.exit(3);';
    const command = { source_config: { build_command: "node build.mjs" } };
    const revision = await deploy("three", command, { "build.mjs": script });
    await untilStatus(call, id, revision, "BUILD_FAILED", ROLLOUT_MS);
    const lines = (await logLines(call, id, revision, "build")).join("\n");
    expect(lines).toContain("preparing");
    expect(lines).toContain("no compiler here");
    expect(await run()).toMatchObject({ word: "one" });
  });

  test("a registry that is down is tried again, and its password is in no log", async () => {
    await world.registry.stop();
    const revision = await deploy("four", { source_config: { build_command: "" } });
    const log = () => logLines(call, id, revision, "build");
    await vi.waitUntil(async () => (await log()).some((line) => line.includes("does not accept the image yet")), {
      timeout: 120_000,
      interval: 200,
    });
    expect((await log()).join("\n")).toContain("connection refused. Retrying in 1 s.");
    await world.registry.start();
    await untilStatus(call, id, revision, "DEPLOYED", ROLLOUT_MS);
    expect(await run()).toMatchObject({ word: "four" });
    const text = (await log()).join("\n") + readFileSync(join(world.directory, "control.log"), "utf8");
    expect(text).not.toContain(REGISTRY_PASSWORD);
    expect(text).not.toContain(Buffer.from(`heddle:${REGISTRY_PASSWORD}`).toString("base64"));
  });

  test("an interrupted build ends; a build whose control plane is killed is repeated, and runs once", async () => {
    const interrupted = await deployWaiting("five");
    const answer = await call("POST", `/v2/deployments/${id}/revisions/${interrupted}/interruption`);
    expect(`${answer.status} ${answer.text}`).toMatch(/^20/);
    expect(await revisionStatus(call, id, interrupted)).toBe("INTERRUPTED");

    const killed = await deployWaiting("six");
    await world.control.end("SIGKILL");
    await world.control.start(world.environment);
    await untilStatus(call, id, killed, "DEPLOYED", ROLLOUT_MS);
    expect(await run()).toMatchObject({ word: "six" });
    expect(await images()).toEqual([await builtImage(killed)]);
    const tags = world.registry.tags(REPOSITORY);
    expect(tags.filter((tag) => tag.includes(interrupted))).toEqual([]);
    expect(tags.filter((tag) => tag.includes(killed))).toHaveLength(1);
    expect(await kept()).toEqual([]);
  });

  test("a leader that was frozen during a build changes nothing when it continues", async () => {
    const second = await ControlProcess.create(world.directory, world.db.uri);
    const revision = await deployWaiting("eight");
    world.control.signal("SIGSTOP");
    try {
      await second.start(world.environment);
      const other: Call = (method, path, body, headers = {}) =>
        second.call(method, path, body, { "x-api-key": world.key, ...headers });
      const image = await vi.waitUntil(() => builtImage(revision), { timeout: 120_000, interval: 100 });
      // pods check keys with it: while it is frozen, they do not become ready
      world.control.signal("SIGCONT");
      await untilStatus(other, id, revision, "DEPLOYED", ROLLOUT_MS);
      // its own build and push would be over by then
      await sleep(8_000);
      expect(await builtImage(revision)).toBe(image);
      expect(await revisionStatus(other, id, revision)).toBe("DEPLOYED");
      expect(await images()).toEqual([image]);
      expect(await run()).toMatchObject({ word: "eight" });
      const [{ attempt } = { attempt: 0 }] = await world.db.sql`select attempt from revisions where id = ${revision}`;
      expect(attempt).toBeGreaterThan(1);
      expect(world.registry.tags(REPOSITORY)).toContain(`${id}.${revision}.${attempt}`);
    } finally {
      world.control.signal("SIGCONT");
      await second.end("SIGTERM");
    }
  });

  test("a wrong password fails the build and names the settings; a listener gets the digest without credentials", async () => {
    const { HEDDLE_KUBERNETES_REGISTRY_CONFIG: login, ...rest } = world.environment;
    await world.control.end("SIGTERM");
    await world.control.start({ ...rest, HEDDLE_KUBERNETES_REGISTRY_CONFIG: world.registry.writeLogin("wrong") });
    const revision = await deploy("seven", { source_config: { build_command: "" } });
    await untilStatus(call, id, revision, "BUILD_FAILED", ROLLOUT_MS);
    const { json: failed } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
    expect(failed.status_message).toContain("HEDDLE_KUBERNETES_REGISTRY_CONFIG");
    await world.control.end("SIGTERM");
    await world.control.start({ ...rest, HEDDLE_KUBERNETES_REGISTRY_CONFIG: login! });
    const listener = await call("POST", "/v2/listeners", {
      compute_type: "k8s",
      compute_id: "remote",
      compute_config: { k8s_namespaces: [NAMESPACE] },
    });
    const created = await call("POST", "/v2/deployments", {
      name: "remote",
      source: "internal_source",
      source_config: { deployment_type: "dev", listener_id: listener.json.id },
      source_revision_config: {},
      secrets: [],
    });
    expect(`${created.status} ${created.text}`).toMatch(/^201/);
    const remote = await deployArchive(call, created.json.id, createArchive(graphProject("remote")));
    await untilStatus(call, created.json.id, remote, "DEPLOYING", ROLLOUT_MS);
    const desired = await vi.waitUntil(
      async () => (await call("GET", `/v2/listeners/${listener.json.id}/work`)).json.deployments?.[0]?.revision,
      { timeout: 20_000, interval: 200 },
    );
    expect(desired).toMatchObject({
      id: remote,
      image: await builtImage(remote),
      isBuilt: true,
      pullCredentials: null,
    });
  });
});
