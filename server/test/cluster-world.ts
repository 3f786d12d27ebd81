/**
 * World of the tests of deployments in clusters: a test cluster with images of agent servers, a database that its pods
 * reach, and a control plane in a separate process whose cluster it is.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, vi } from "vitest";

import { ControlProcess } from "../../test/crash/control-process.ts";
import { type ClusterOptions, startCluster, type TestCluster } from "../../test/kubernetes/cluster.ts";
import type { ObjectMeta } from "../../test/kubernetes/kube-client.ts";
import { type Kind, objectPath } from "../src/control/kubernetes/api/kinds.ts";
import { atEnd } from "./at-end.ts";
import type { Call } from "./call.ts";
import { dropDeploymentDatabases, testDataDirectory } from "./control-plane.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { graphProject, untilStatus } from "./deploy.ts";
import { testTenants } from "./identity.ts";
import { BRIDGE_ADDRESS, openToContainers } from "./podman.ts";

const SCRIPT = fileURLToPath(new URL("../../scripts/build/agent-image.mjs", import.meta.url));
const BASE = "localhost/heddle-agent:test";
/** Namespace of the deployments of the control plane's own cluster. */
export const NAMESPACE = "agents";
/** Longest time of a rollout on a busy machine. */
export const ROLLOUT_MS = 400_000;

/** Projects of the images that every world has: two that answer their name, and one whose graph does not load. */
const PROJECTS: Record<string, Record<string, string>> = {
  one: graphProject("one"),
  two: graphProject("two"),
  broken: { ...graphProject("x"), "graph.mjs": "throw new Error('no such graph');" },
};

/** Returns the name of a project's image. */
export const image = (word: string): string => `localhost/agent-${word}:1`;

export interface Item {
  metadata: ObjectMeta & { generation?: number };
  spec?: { nodeName?: string; replicas?: number };
  status?: { phase?: string; containerStatuses?: { restartCount: number }[] };
}

export interface DeployedRevision {
  id: string;
  revision: string;
}

function expectStatus({ status, text }: { status: number; text: string }, wanted: RegExp): void {
  expect(`${status} ${text}`).toMatch(wanted);
}

/** Options of a deployment beside its name and image. */
export interface CreateOptions {
  resource_spec?: object;
  listener_id?: string;
}

export class ClusterWorld {
  readonly cluster: TestCluster;
  readonly control: ControlProcess;
  readonly db: TestDatabase;
  /** Administrator's key. */
  readonly key: string;
  /** Environment of control planes. */
  readonly environment: Record<string, string>;
  /** Data directory of control planes. */
  readonly directory: string;
  /** Calls the control plane as the administrator. */
  readonly call: Call;
  /** Control plane that pods reach, as behind a load balancer. */
  reached: ControlProcess;

  constructor(parts: Pick<ClusterWorld, "cluster" | "control" | "db" | "key" | "environment" | "directory">) {
    this.cluster = parts.cluster;
    this.control = parts.control;
    this.reached = parts.control;
    this.db = parts.db;
    this.key = parts.key;
    this.environment = parts.environment;
    this.directory = parts.directory;
    this.call = this.callTo(this.control);
  }

  /** Returns a caller of another control plane. */
  callTo(control: ControlProcess): Call {
    return (method, path, body, headers = {}) =>
      control.call(method, path, body, { "x-api-key": this.key, ...headers });
  }

  /** Creates a deployment of an image. */
  async create(name: string, word: string, { resource_spec: spec, ...config }: CreateOptions = {}) {
    const created = await this.call("POST", "/v2/deployments", {
      name,
      source: "external_docker",
      source_config: {
        resource_spec: { cpu: 0.1, cpu_limit: 2, memory_mb: 256, memory_limit_mb: 1024, ...spec },
        ...config,
      },
      source_revision_config: { image_uri: image(word) },
      secrets: [{ name: "GREETING", value: `hello-${word}` }],
    });
    expectStatus(created, /^201/);
    const { id, latest_revision_id: revision } = created.json as { id: string; latest_revision_id: string };
    return { id, revision };
  }

  /** Creates a deployment of an image. Resolves when it serves. */
  async deploy(name: string, word: string, options: CreateOptions = {}): Promise<DeployedRevision> {
    const created = await this.create(name, word, options);
    await this.untilDeployed(created);
    return created;
  }

  untilDeployed({ id, revision }: DeployedRevision, call: Call = this.call): Promise<void> {
    return untilStatus(call, id, revision, "DEPLOYED", ROLLOUT_MS);
  }

  /** Creates a revision. Returns its id. */
  async revise(id: string, word: string, call: Call = this.call): Promise<string> {
    const body = { source_revision_config: { image_uri: image(word) } };
    const changed = await call("PATCH", `/v2/deployments/${id}`, body);
    expectStatus(changed, /^200/);
    return (changed.json as { latest_revision_id: string }).latest_revision_id;
  }

  /** Deletes a deployment. Resolves when the control plane has begun. */
  async beginRemove(id: string): Promise<void> {
    const deleted = await this.call("DELETE", `/v2/deployments/${id}`);
    expectStatus(deleted, /^20[024]/);
  }

  /** Deletes a deployment. Resolves when nothing of it is left. */
  async remove(id: string): Promise<void> {
    await this.beginRemove(id);
    await this.untilRemoved(id);
  }

  async untilRemoved(id: string): Promise<void> {
    const isGone = async () => (await this.call("GET", `/v2/deployments/${id}`)).status === 404;
    await vi.waitUntil(isGone, { timeout: 200_000, interval: 250 });
  }

  /** Sends a request to a deployment through a control plane's gateway. */
  request(name: string, path: string, init: RequestInit = {}, control = this.control): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("x-api-key", this.key);
    headers.set("content-type", "application/json");
    return fetch(`${control.url}/d/${name}${path}`, { ...init, headers });
  }

  async ask<T>(name: string, method: string, path: string, body?: object): Promise<T> {
    const response = await this.request(name, path, { method, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Runs the graph of a deployment through the gateway. Returns the values, or the status and body of an error. */
  async run(name: string, control = this.control): Promise<{ word: string; env: string } | string> {
    const body = JSON.stringify({ assistant_id: "echo", input: {} });
    const response = await this.request(name, "/runs/wait", { method: "POST", body }, control);
    const text = await response.text();
    return response.ok ? (JSON.parse(text) as { word: string; env: string }) : `${response.status} ${text}`;
  }

  /** Lists the objects of a kind that belong to deployments, or to one. */
  async objects(kind: Kind, id?: string, namespace = NAMESPACE): Promise<Item[]> {
    const label = id === undefined ? "heddle.deployment" : `heddle.deployment=${id}`;
    const path = `${objectPath(kind, namespace)}?labelSelector=${encodeURIComponent(label)}`;
    return (await this.cluster.client.call<{ items: Item[] }>("GET", path)).items;
  }

  /** Lists a deployment's pods that are not being deleted. */
  async pods(id: string, namespace = NAMESPACE): Promise<Item[]> {
    const pods = await this.objects("Pod", id, namespace);
    return pods.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== "Failed");
  }

  async replicaSets(id: string, namespace = NAMESPACE): Promise<Item[]> {
    const path = `/apis/apps/v1/namespaces/${namespace}/replicasets?labelSelector=heddle.deployment%3D${id}`;
    return (await this.cluster.client.call<{ items: Item[] }>("GET", path)).items;
  }

  async createNamespace(name: string): Promise<void> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    await this.cluster.client.call("POST", "/api/v1/namespaces", namespace);
  }

  /** Returns the generation of a deployment's target. */
  async generation(id: string): Promise<number> {
    const [row] = await this.db.sql<{ generation: string }[]>`
      select generation from cluster_targets where deployment_id = ${id}`;
    return Number(row!.generation);
  }

  async revisionStatuses(id: string): Promise<{ id: string; status: string }[]> {
    return this.db.sql<{ id: string; status: string }[]>`
      select id, status from revisions where deployment_id = ${id} order by number`;
  }
}

/** Builds the image of a project. `command`: lines that are appended to its Dockerfile. */
export async function buildImage(
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

/** Imports the image of the agent server: the archive that HEDDLE_TEST_AGENT_IMAGE names, or one that is built here. */
export async function importAgent(cluster: TestCluster): Promise<void> {
  const built = process.env["HEDDLE_TEST_AGENT_IMAGE"];
  const archive = built ?? join(tmpdir(), `heddle-agent-${process.pid}.tar`);
  if (built === undefined) await promisify(execFile)(process.execPath, [SCRIPT, archive]);
  await cluster.importImage(archive, BASE, ['CMD ["heddle","serve","--role","agent","--config","langgraph.json"]']);
  if (built === undefined) rmSync(archive);
}

/** Address of the database for the pods. */
async function openDatabase(db: TestDatabase): Promise<string> {
  const way = await openToContainers(Number(new URL(db.uri).port));
  atEnd(() => way.close());
  const reachable = new URL(db.uri);
  reachable.hostname = "127.0.0.1";
  reachable.port = String(way.port);
  return reachable.href;
}

export interface WorldOptions extends ClusterOptions {
  /** Projects of further images, by name. */
  projects?: Record<string, Record<string, string>>;
  /** Settings of the control planes. */
  settings?: Record<string, string>;
}

/** Opens a world, which is closed after the test file. */
export async function openClusterWorld({ projects, settings, ...options }: WorldOptions = {}): Promise<ClusterWorld> {
  const cluster = await startCluster({ nodes: ["node-1", "node-2"], backoffMs: 300, ...options });
  atEnd(() => cluster.stop());
  await importAgent(cluster);
  for (const [word, files] of Object.entries({ ...PROJECTS, ...projects })) await buildImage(cluster, word, files);
  const db = await testDatabase();
  const databaseUri = await openDatabase(db);
  const { a } = await testTenants(db);
  const directory = testDataDirectory();
  const control = await ControlProcess.create(directory, db.uri);
  atEnd(async () => {
    control.signal("SIGCONT");
    await control.end("SIGTERM");
    await dropDeploymentDatabases(db);
    rmSync(directory, { recursive: true, force: true });
  });
  const reached: { world?: ClusterWorld } = {};
  const balancer = await openToContainers(() => Number(new URL((reached.world?.reached ?? control).url).port));
  atEnd(() => balancer.close());
  const environment = {
    HEDDLE_AUTH: "required",
    HEDDLE_HOST: "0.0.0.0",
    HEDDLE_CONTROL_DRIVER: "kubernetes",
    HEDDLE_KUBECONFIG: cluster.kubeconfig,
    HEDDLE_KUBERNETES_NAMESPACE: NAMESPACE,
    HEDDLE_KUBERNETES_HOST_ADDRESS: BRIDGE_ADDRESS,
    HEDDLE_CONTROL_INTERNAL_URL: `http://${BRIDGE_ADDRESS}:${balancer.port}`,
    HEDDLE_DEPLOYMENT_DATABASE_URI: databaseUri,
    HEDDLE_DEPLOY_READY_SECONDS: "400",
    HEDDLE_DEPLOY_UNSEEN_SECONDS: "12",
    HEDDLE_LISTENER_ADDRESSES: "10.88.0.0/16",
    HEDDLE_CONTROL_LEASE_MS: "3000",
    HEDDLE_LOG_LEVEL: "info",
    ...settings,
  };
  const world = new ClusterWorld({ cluster, control, db, key: a.admin, environment, directory });
  reached.world = world;
  await world.createNamespace(NAMESPACE);
  await control.start(environment);
  return world;
}
