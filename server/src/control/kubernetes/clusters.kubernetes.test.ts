/** Tests of deployments in a real cluster: of a control plane with its own cluster, and of a listener. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { beforeAll, describe, expect, test, vi } from "vitest";

import { ControlProcess } from "../../../../test/crash/control-process.ts";
import { missingPrograms } from "../../../../test/kubernetes/binaries.ts";
import { startCluster, type TestCluster } from "../../../../test/kubernetes/cluster.ts";
import { atEnd } from "../../../test/at-end.ts";
import type { Call } from "../../../test/call.ts";
import { dropDeploymentDatabases, testDataDirectory } from "../../../test/control-plane.ts";
import { testDatabase } from "../../../test/db.ts";
import { graphProject, logLines, untilStatus } from "../../../test/deploy.ts";
import { testTenants } from "../../../test/identity.ts";
import { type Exchange, recordApi } from "../../../test/api-cassette.ts";
import { playScene, SCENE_NAMESPACE, SCENES } from "../../../test/cluster-scenes.ts";
import { BRIDGE_ADDRESS, openToContainers } from "../../../test/podman.ts";
import { openListener } from "../../roles/listener-role.ts";
import { openAccess } from "./api/kubeconfig.ts";
import { KubernetesApi } from "./api/kubernetes-api.ts";

const SCRIPT = fileURLToPath(new URL("../../../../scripts/agent-image.mjs", import.meta.url));
const BASE = "localhost/heddle-agent:test";
const NAMESPACE = "agents";
const RECORDED = fileURLToPath(new URL("recorded", import.meta.url));

/** Name of the image of a project. HEDDLE_TEST_AGENT_IMAGE: archive of the base image, so that it is not built here. */
const image = (word: string) => `localhost/agent-${word}:1`;

async function buildImage(
  { podman }: TestCluster,
  word: string,
  files: Record<string, string>,
  command = "",
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-image-"));
  for (const [name, text] of Object.entries({
    ...files,
    Dockerfile: `FROM ${BASE}\nWORKDIR /deps/project\nADD project /deps/project\n${command}`,
  })) {
    const file = join(directory, name === "Dockerfile" ? name : join("project", name));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  await podman.run("build", "--network", "none", "-t", image(word), directory);
  rmSync(directory, { recursive: true });
}

/** Leaves out managedFields, which take most of each object and are not read. */
const withoutFields = (exchange: Exchange): Exchange =>
  JSON.parse(
    JSON.stringify(exchange, (key, value: unknown) => (key === "managedFields" ? undefined : value)),
  ) as Exchange;

interface World {
  cluster: TestCluster;
  control: ControlProcess;
  call: Call;
  key: string;
  sql: Awaited<ReturnType<typeof testDatabase>>["sql"];
  environment: Record<string, string>;
  directory: string;
  /** Address of the database. */
  uri: string;
}

async function setUp(): Promise<World> {
  const cluster = await startCluster({ nodes: ["node-1", "node-2"], backoffMs: 300 });
  atEnd(() => cluster.stop());
  const built = process.env["HEDDLE_TEST_AGENT_IMAGE"];
  const archive = built ?? join(tmpdir(), `heddle-agent-${process.pid}.tar`);
  if (built === undefined) await promisify(execFile)(process.execPath, [SCRIPT, archive]);
  await cluster.importImage(archive, BASE, ['CMD ["heddle","serve","--role","agent","--config","langgraph.json"]']);
  if (built === undefined) rmSync(archive);
  for (const word of ["one", "two"]) await buildImage(cluster, word, graphProject(word));
  await buildImage(cluster, "broken", { ...graphProject("x"), "graph.mjs": "throw new Error('no such graph');" });
  const answers = 'require("http").createServer((_, r) => r.end("{}")).listen(8000)';
  await buildImage(cluster, "ok", { "a.txt": "" }, `CMD ["node","-e",${JSON.stringify(answers)}]\n`);
  for (const name of [NAMESPACE, SCENE_NAMESPACE]) {
    await cluster.client.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    });
  }
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
    HEDDLE_CONTROL_INTERNAL_URL: control.url.replace("127.0.0.1", BRIDGE_ADDRESS),
    HEDDLE_DEPLOYMENT_DATABASE_URI: reachable.href,
    HEDDLE_DEPLOY_READY_SECONDS: "400",
    HEDDLE_DEPLOY_UNSEEN_SECONDS: "12",
    HEDDLE_LISTENER_ADDRESSES: "10.88.0.0/16",
    HEDDLE_LOG_LEVEL: "info",
  };
  await control.start(environment);
  const call: Call = (method, path, body, headers = {}) =>
    control.call(method, path, body, { "x-api-key": a.admin, ...headers });
  return { cluster, control, call, key: a.admin, sql: db.sql, environment, directory, uri: db.uri };
}

const missing = missingPrograms();

describe.skipIf(missing.length > 0)("deployments in Kubernetes", () => {
  let world: World;
  let call: Call;
  const objects = async (kind: string, at = "/api/v1") =>
    (
      (await world.cluster.client.call("GET", `${at}/namespaces/${NAMESPACE}/${kind}`)) as {
        items: {
          metadata: { name: string; labels?: Record<string, string>; uid: string; deletionTimestamp?: string };
        }[];
      }
    ).items;

  beforeAll(async () => {
    world = await setUp();
    ({ call } = world);
  });

  test("one deployment, scene by scene; with HEDDLE_TEST_RECORD, the recording for recorded.test.ts", async () => {
    const real = new KubernetesApi(await openAccess(world.cluster.kubeconfig));
    for (const scene of SCENES) {
      const recorder = await recordApi(real);
      const reports = await playScene(recorder.api, scene, 120_000);
      const { exchanges } = recorder;
      await recorder.close();
      const message = scene.until === "failed" ? "ImagePull" : "null";
      expect([scene.name, reports.at(-1)?.state, String(reports.at(-1)?.message)]).toEqual([
        scene.name,
        scene.until,
        expect.stringContaining(message),
      ]);
      if (process.env["HEDDLE_TEST_RECORD"] === undefined) continue;
      mkdirSync(RECORDED, { recursive: true });
      const lines = exchanges.map((exchange) => JSON.stringify(withoutFields(exchange)));
      writeFileSync(join(RECORDED, `${scene.name}.json`), `[\n${lines.join(",\n")}\n]\n`);
    }
    real.close();
  });

  const create = async (name: string, word: string, more: Record<string, unknown> = {}) => {
    const { resource_spec: spec = {}, listener_id: listener, ...rest } = more;
    const created = await call("POST", "/v2/deployments", {
      name,
      source: "external_docker",
      source_config: {
        resource_spec: { cpu: 0.1, cpu_limit: 2, memory_mb: 256, memory_limit_mb: 1024, ...(spec as object) },
        ...(listener !== undefined && { listener_id: listener }),
      },
      source_revision_config: { image_uri: image(word) },
      secrets: [{ name: "GREETING", value: `hello-${word}` }],
      ...rest,
    });
    expect(`${created.status} ${created.text}`).toMatch(/^201/);
    return { id: created.json.id as string, revision: created.json.latest_revision_id as string };
  };
  const revise = async (id: string, word: string) => {
    const changed = await call("PATCH", `/v2/deployments/${id}`, {
      source_revision_config: { image_uri: image(word) },
    });
    expect(`${changed.status} ${changed.text}`).toMatch(/^200/);
    return changed.json.latest_revision_id as string;
  };
  const run = async (name: string, input: object = {}) => {
    const response = await fetch(`${world.control.url}/d/${name}/runs/wait`, {
      method: "POST",
      headers: { "x-api-key": world.key, "content-type": "application/json" },
      body: JSON.stringify({ assistant_id: "echo", input }),
    });
    const text = await response.text();
    return response.ok ? (JSON.parse(text) as { word: string; env: string }) : `${response.status} ${text}`;
  };

  test("an image becomes pods that answer through the gateway; a new revision, a broken one and a rollback", async () => {
    const { id, revision: first } = await create("agent", "one");
    await untilStatus(call, id, first, "DEPLOYED", 400_000);
    expect(await run("agent")).toMatchObject({ word: "one", env: "hello-one" });

    const second = await revise(id, "two");
    await untilStatus(call, id, second, "DEPLOYED", 400_000);
    expect(await run("agent")).toMatchObject({ word: "two" });

    // an unhealthy revision leaves the serving one alone
    const broken = await revise(id, "broken");
    await untilStatus(call, id, broken, "DEPLOY_FAILED", 150_000);
    const { json: failed } = await call("GET", `/v2/deployments/${id}/revisions/${broken}`);
    expect(failed.status_message).toContain("failed to load: echo");
    expect(await run("agent")).toMatchObject({ word: "two" });
    const staying = async () => (await objects("pods")).filter(({ metadata }) => !metadata.deletionTimestamp).length;
    await expect.poll(staying, { timeout: 60_000 }).toBe(1);

    const back = await call("POST", `/v2/deployments/${id}/revisions/${first}/redeploy`);
    const rollback = back.json.latest_revision_id as string;
    await untilStatus(call, id, rollback, "DEPLOYED", 400_000);
    expect(await run("agent")).toMatchObject({ word: "one" });
    await expect
      .poll(async () => (await logLines(call, id, rollback, "deploy")).join("\n"))
      .toContain("step one of one");

    await call("DELETE", `/v2/deployments/${id}`);
    await vi.waitUntil(async () => (await call("GET", `/v2/deployments/${id}`)).status === 404, { timeout: 200_000 });
    for (const [kind, at] of [
      ["pods", "/api/v1"],
      ["services", "/api/v1"],
      ["secrets", "/api/v1"],
      ["deployments", "/apis/apps/v1"],
      ["networkpolicies", "/apis/networking.k8s.io/v1"],
    ]) {
      expect([kind, (await objects(kind!, at)).filter(({ metadata }) => metadata.labels?.["heddle.place"])]).toEqual([
        kind,
        [],
      ]);
    }
  });

  test("a revision whose image does not exist fails with the cluster's reason", async () => {
    const { id, revision } = await create("no-image", "never-built");
    await untilStatus(call, id, revision, "DEPLOY_FAILED", 120_000);
    const { json } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
    expect(json.status_message).toMatch(/ErrImage|ImagePull/);
    await call("DELETE", `/v2/deployments/${id}`);
  });

  test("drift is corrected, and objects of other owners are left alone", async () => {
    const { id, revision } = await create("drift", "one");
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    const [service] = (await objects("services")).filter(
      ({ metadata }) => metadata.labels?.["heddle.deployment"] === id,
    );
    await world.cluster.client.call("DELETE", `/api/v1/namespaces/${NAMESPACE}/services/${service!.metadata.name}`);
    await expect
      .poll(async () =>
        (await objects("services")).filter(({ metadata }) => metadata.labels?.["heddle.deployment"] === id),
      )
      .toEqual([expect.objectContaining({ metadata: expect.not.objectContaining({ uid: service!.metadata.uid }) })]);
    await call("DELETE", `/v2/deployments/${id}`);
  });

  test("without the API server, agents serve and a revision waits as UNKNOWN", async () => {
    const { id, revision } = await create("outage", "one");
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    world.cluster.freezeApiServer();
    try {
      const next = await revise(id, "two");
      await untilStatus(call, id, next, "UNKNOWN", 60_000);
      expect(await run("outage")).toMatchObject({ word: "one" });
      world.cluster.thawApiServer();
      await untilStatus(call, id, next, "DEPLOYED", 400_000);
      // a pod that is being replaced shares the queue until it stops
      await expect.poll(() => run("outage"), { timeout: 120_000 }).toMatchObject({ word: "two" });
    } finally {
      world.cluster.thawApiServer();
    }
    await call("DELETE", `/v2/deployments/${id}`);
  });

  test("a restarted control plane adopts its cluster without a new pod", async () => {
    const { id, revision } = await create("killed", "one");
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    const uids = async () =>
      (await objects("pods"))
        .filter(({ metadata }) => metadata.labels?.["heddle.deployment"] === id)
        .map(({ metadata }) => metadata.uid);
    const before = await uids();
    const next = await revise(id, "two");
    await world.control.end("SIGKILL");
    await world.control.start(world.environment);
    await untilStatus(call, id, next, "DEPLOYED", 400_000);
    expect(await run("killed")).toMatchObject({ word: "two" });
    await expect.poll(uids, { timeout: 200_000 }).toHaveLength(1);
    const after = await uids();
    expect(after).not.toEqual(before);
    await world.control.end("SIGKILL");
    await world.control.start(world.environment);
    await vi.waitUntil(async () => typeof (await run("killed")) === "object", { timeout: 90_000 });
    expect(await uids()).toEqual(after);
    await call("DELETE", `/v2/deployments/${id}`);
  });

  /** Starts a run of about eight seconds. @returns a function that returns its status */
  const startRun = async (name: string) => {
    const ask = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${world.control.url}/d/${name}${path}`, {
        method,
        headers: { "x-api-key": world.key, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as { thread_id: string; run_id: string; status: string };
    };
    const { thread_id: thread } = await ask("POST", "/threads", {});
    const input = { wait: 4000 };
    const { run_id: run } = await ask("POST", `/threads/${thread}/runs`, { assistant_id: "echo", input });
    return async () => (await ask("GET", `/threads/${thread}/runs/${run}`).catch(() => null))?.status;
  };
  const podsOf = async (id: string) =>
    (await objects("pods")).filter(
      ({ metadata }) => metadata.labels?.["heddle.deployment"] === id && !metadata.deletionTimestamp,
    );

  test("a run whose pod is evicted ends as a success", async () => {
    const { id, revision } = await create("evicted", "one");
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    const status = await startRun("evicted");
    await expect.poll(status).toBe("running");
    const [pod] = await podsOf(id);
    const { name } = pod!.metadata;
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace: NAMESPACE } };
    await world.cluster.client.call("POST", `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction`, eviction);
    await expect.poll(status, { timeout: 240_000, interval: 500 }).toBe("success");
    await expect.poll(async () => (await podsOf(id)).length, { timeout: 240_000 }).toBe(1);
    expect((await podsOf(id))[0]!.metadata.uid).not.toBe(pod!.metadata.uid);
    await call("DELETE", `/v2/deployments/${id}`);
  });

  test("a deployment on a lost node is served from another node", async () => {
    const { id, revision } = await create("moved", "one");
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    const [pod] = (await podsOf(id)) as unknown as { spec: { nodeName: string } }[];
    await world.cluster.stopNode(pod!.spec.nodeName);
    await expect.poll(() => run("moved"), { timeout: 240_000, interval: 1000 }).toMatchObject({ word: "one" });
    await world.cluster.addNode("node-3");
    await call("DELETE", `/v2/deployments/${id}`);
  });

  test("a frozen leader is replaced, and changes nothing when it thaws", async () => {
    const { id, revision } = await create("led", "one");
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    const second = await ControlProcess.create(world.directory, world.uri);
    atEnd(() => second.end("SIGTERM").then(() => {}));
    await second.start({ ...world.environment, HEDDLE_CONTROL_LEASE_MS: "3000" });
    world.control.signal("SIGSTOP");
    const calls: Call = (method, path, body) => second.call(method, path, body, { "x-api-key": world.key });
    try {
      const body = { source_revision_config: { image_uri: image("two") } };
      const next = (await calls("PATCH", `/v2/deployments/${id}`, body)).json.latest_revision_id as string;
      await untilStatus(calls, id, next, "DEPLOYED", 400_000);
    } finally {
      world.control.signal("SIGCONT");
    }
    const generations = async () => {
      const rows = await world.sql<{ generation: string }[]>`
        select generation from cluster_targets where deployment_id = ${id}`;
      return rows.map(({ generation }) => Number(generation));
    };
    const before = await generations();
    await new Promise((done) => setTimeout(done, 10_000));
    expect(await generations()).toEqual(before);
    expect(await run("led")).toMatchObject({ word: "two" });
    expect(await podsOf(id)).toHaveLength(1);
    await second.end("SIGTERM");
    await call("DELETE", `/v2/deployments/${id}`);
  });

  test("a listener runs the deployments that name it, by outgoing requests, and outlives its control plane", async () => {
    const namespace = "elsewhere";
    await world.cluster.client.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: namespace },
    });
    const created = await call("POST", "/v2/listeners", {
      compute_type: "k8s",
      compute_id: "cluster-b",
      compute_config: { k8s_namespaces: [namespace] },
    });
    const listenerId = created.json.id as string;
    expect(created.json).toMatchObject({ status: "never_connected", last_seen_at: null });
    const settings = { controlUrl: world.control.url, key: world.key, listenerId, namespaces: [] };
    const environment = { HEDDLE_KUBECONFIG: world.cluster.kubeconfig, HEDDLE_LOG_LEVEL: "warn" };
    const listener = await openListener(settings, environment);
    atEnd(() => listener.stop());
    const { id, revision } = await create("remote", "one", { listener_id: listenerId });
    await untilStatus(call, id, revision, "DEPLOYED", 400_000);
    expect(await run("remote")).toMatchObject({ word: "one" });
    expect((await call("GET", `/v2/listeners/${listenerId}`)).json.status).toBe("connected");
    const pods = async () =>
      ((await world.cluster.client.call("GET", `/api/v1/namespaces/${namespace}/pods`)) as { items: unknown[] }).items
        .length;
    expect(await pods()).toBe(1);

    await world.control.end("SIGKILL");
    await new Promise((done) => setTimeout(done, 3000));
    expect(await pods()).toBe(1);
    await world.control.start(world.environment);
    const next = await revise(id, "two");
    await untilStatus(call, id, next, "DEPLOYED", 400_000);
    expect(await run("remote")).toMatchObject({ word: "two" });
    await call("DELETE", `/v2/deployments/${id}`);
    await vi.waitUntil(async () => (await call("GET", `/v2/deployments/${id}`)).status === 404, { timeout: 200_000 });
    expect(await pods()).toBe(0);
  });
});
