/**
 * Tests of a running installation by the chart. HEDDLE_TEST_IMAGE names an archive of Dockerfile's image, from
 * `podman save` or `docker save`. It and HEDDLE_TEST_AGENT_IMAGE must be built from these sources: all servers share one
 * database, whose schema an older one rejects.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { describe, expect, test, vi } from "vitest";

import { findHelm, renderChart, VALUES } from "../../scripts/build/chart.ts";
import { S3_SERVER } from "../../scripts/services/s3-server.mjs";
import { ChdbSessions } from "../../server/src/base/clickhouse/chdb-sessions.ts";
import { freePort } from "../../server/src/base/free-port.ts";
import { atEnd } from "../../server/test/at-end.ts";
import { clickHouseServer } from "../../server/test/clickhouse-server.ts";
import { buildImage, image, importAgent } from "../../server/test/cluster-world.ts";
import { dropDeploymentDatabases } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { graphProject } from "../../server/test/deploy.ts";
import { BRIDGE_ADDRESS, openToContainers } from "../../server/test/podman.ts";
import { startPolicyServer } from "../s3/versitygw.ts";
import { applyManifest } from "./apply.ts";
import { missingPrograms } from "./binaries.ts";
import { startCluster } from "./cluster.ts";
import { isPodReady, type Pod } from "./pod.ts";
import { proxyService } from "./service-proxy.ts";
import { parseManifests } from "./validate.ts";

const archive = process.env["HEDDLE_TEST_IMAGE"];
const helm = findHelm();
const canRun = archive !== undefined && helm !== undefined && existsSync(S3_SERVER) && missingPrograms().length === 0;

const NAMESPACE = "heddle";
/** Namespaces of the deployments of the control plane, and of the listener. */
const AGENTS = "heddle-agents";
const REMOTE = "remote-agents";
/** Image of the role agent. */
const AGENT_IMAGE = "localhost/heddle-project:v1";
const READY_MS = 300_000;

const secret = (name: string, stringData: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: NAMESPACE },
  stringData,
});

/** Address of a server on loopback for pods. */
async function forPods(url: string): Promise<URL> {
  const address = new URL(url);
  const way = await openToContainers(Number(address.port));
  atEnd(() => way.close());
  [address.hostname, address.port] = [BRIDGE_ADDRESS, String(way.port)];
  return address;
}

/** Starts a ClickHouse for pods. Returns its URL. */
async function startClickHouse(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-chdb-"));
  const engine = { directory, connections: 2, database: "default", settings: {}, maxMemory: 1024 ** 3 };
  const sessions = await ChdbSessions.open(engine);
  const { url, server } = await clickHouseServer(sessions);
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await sessions.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return new URL("/heddle", await forPods(url)).href;
}

describe.skipIf(!canRun)("an installation", { timeout: 1_200_000 }, () => {
  test("deploys agents, in its cluster and by a listener, and is upgraded without downtime", async () => {
    const db = await testDatabase();
    const databaseUri = await forPods(db.uri);
    const clickhouseUrl = await startClickHouse();
    const s3 = await startPolicyServer();
    await s3.createBucket("heddle");
    const user = s3.createUser();
    await s3.allow("heddle", user.access_key_id, ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"]);
    const endpoint = await forPods(s3.endpoint);
    const ports = { control: await freePort(), trace: await freePort(), gateway: 2027, console: 3000, agent: 2024 };
    const hosts = Object.fromEntries(
      ["control", "trace"].map((role) => [`heddle-${role}.${NAMESPACE}.svc`, BRIDGE_ADDRESS]),
    );
    const cluster = await startCluster({ nodes: ["a", "b"], hosts });
    atEnd(async () => {
      await cluster.stop();
      await dropDeploymentDatabases(db);
    });
    const { client } = cluster;
    await cluster.podman.run("load", "--input", archive!);
    await importAgent(cluster);
    await buildImage(cluster, "one", graphProject("one"));
    await cluster.podman.run("tag", image("one"), AGENT_IMAGE);
    for (const metadata of [
      // the strictest pod security level
      { name: NAMESPACE, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
      { name: REMOTE },
    ]) {
      await client.call("POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata });
    }
    const keys = `k1:${randomBytes(32).toString("base64")}`;
    await applyManifest(client, secret("heddle-postgres", { DATABASE_URI: databaseUri.href }));
    await applyManifest(client, secret("heddle-encryption", { HEDDLE_SECRETS_KEYS: keys }));
    await applyManifest(client, secret("heddle-clickhouse", { CLICKHOUSE_URL: clickhouseUrl }));
    const login = {
      HEDDLE_BLOB_ACCESS_KEY_ID: user.access_key_id,
      HEDDLE_BLOB_SECRET_ACCESS_KEY: user.secret_access_key,
    };
    await applyManifest(client, secret("heddle-bucket", login));

    const set = [
      "image.repository=localhost/heddle",
      "redis.existingSecret=",
      "tracing.existingSecret=",
      `bucket.endpoint=${endpoint.origin}`,
      "control.persistence.enabled=false",
      "control.replicas=2",
      "control.persistence.accessMode=ReadWriteMany",
      `control.service.port=${ports.control}`,
      `trace.service.port=${ports.trace}`,
      "control.settings.HEDDLE_LISTENER_ADDRESSES=10.88.0.0/16",
      "control.settings.HEDDLE_MIN_HEALTHY_MS=100",
      "trustedProxies=",
      "drainDelaySeconds=1",
    ];
    const install = async (more: string[]) => {
      for (const manifest of parseManifests(renderChart(helm!, VALUES, [...set, ...more]))) {
        await applyManifest(client, manifest);
      }
    };
    await install([]);

    const component = ({ metadata }: Pod) => metadata.labels?.["app.kubernetes.io/component"] ?? "";
    const listPods = async () =>
      (await client.call<{ items: Pod[] }>("GET", `/api/v1/namespaces/${NAMESPACE}/pods`)).items;
    const countReady = async () => {
      const counts: Record<string, number> = {};
      for (const pod of (await listPods()).filter(isPodReady))
        counts[component(pod)] = (counts[component(pod)] ?? 0) + 1;
      return counts;
    };
    const wanted: Record<string, number> = { control: 2, gateway: 2, trace: 2, console: 2 };
    await expect.poll(countReady, { timeout: READY_MS, interval: 500 }).toEqual(wanted);
    for (const role of ["control", "trace"] as const) {
      const path = `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3D${role}`;
      const proxy = await proxyService(client, path, ports[role]);
      atEnd(() => proxy.close());
    }
    const address = async (role: keyof typeof ports) => {
      const pod = (await listPods()).filter(isPodReady).find((each) => component(each) === role)!;
      return `http://${pod.status!.podIP}:${ports[role]}`;
    };
    for (const role of Object.keys(wanted) as (keyof typeof ports)[]) {
      expect([role, (await fetch(`${await address(role)}/readyz`)).status]).toEqual([role, 200]);
    }

    // the key that a server of the installation has printed
    const logs = await Promise.all(
      (await listPods()).map(async ({ metadata: { name } }) =>
        text(await client.open("GET", `/api/v1/namespaces/${NAMESPACE}/pods/${name}/log`)),
      ),
    );
    const key = /First API key[^:]*: (\S+)/.exec(logs.join("\n"))?.[1];
    expect(key).toBeDefined();
    const headers = { "x-api-key": key!, "content-type": "application/json" };
    const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(`${await address("control")}${path}`, init);
      const answer = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
      return JSON.parse(answer) as T;
    };
    expect((await fetch(`${await address("control")}/v2/deployments`)).status).toBe(401);

    const deploy = async (name: string, config: object = {}) => {
      const spec = { cpu: 0.1, cpu_limit: 2, memory_mb: 256, memory_limit_mb: 1024 };
      const created = await call<{ id: string; latest_revision_id: string }>("POST", "/v2/deployments", {
        name,
        source: "external_docker",
        source_config: { resource_spec: spec, ...config },
        source_revision_config: { image_uri: image("one") },
        secrets: [{ name: "GREETING", value: "hello" }],
      });
      const path = `/v2/deployments/${created.id}/revisions/${created.latest_revision_id}`;
      type Revision = { status: string; status_message: string | null };
      const status = async () => {
        const revision = await call<Revision>("GET", path);
        if (/FAILED/.test(revision.status)) throw new Error(revision.status_message ?? revision.status);
        return revision.status;
      };
      await vi.waitUntil(async () => (await status()) === "DEPLOYED", { timeout: READY_MS, interval: 500 });
    };
    const run = async (name: string) => {
      const init = { method: "POST", headers, body: JSON.stringify({ assistant_id: "echo", input: {} }) };
      const response = await fetch(`${await address("gateway")}/d/${name}/runs/wait`, init);
      return response.ok ? ((await response.json()) as object) : `${response.status} ${await response.text()}`;
    };
    const podsIn = async (namespace: string) =>
      (await client.call<{ items: Pod[] }>("GET", `/api/v1/namespaces/${namespace}/pods`)).items.length;

    await deploy("first");
    await expect.poll(() => run("first"), { timeout: 60_000 }).toMatchObject({ word: "one", env: "hello" });
    expect(await podsIn(AGENTS)).toBe(1);

    // an upgrade that adds a listener, which runs deployments in another namespace, and an agent server
    const listener = await call<{ id: string; credential: string }>("POST", "/v2/listeners", {
      compute_type: "k8s",
      compute_id: "remote",
      compute_config: { k8s_namespaces: [REMOTE] },
    });
    await applyManifest(client, secret("heddle-listener", { HEDDLE_LISTENER_KEY: listener.credential }));
    const before = new Set((await listPods()).map(({ metadata }) => metadata.uid));
    let isUpgrading = true;
    const least = { ...wanted };
    const failures: string[] = [];
    const watching = (async () => {
      while (isUpgrading) {
        const counts = await countReady();
        for (const role of Object.keys(least)) least[role] = Math.min(least[role]!, counts[role] ?? 0);
        const answer = await run("first").catch(String);
        if (typeof answer === "string") failures.push(answer);
      }
    })();
    await install([
      "settings.HEDDLE_LOG_LEVEL=debug",
      "listener.enabled=true",
      `listener.controlUrl=http://heddle-control.${NAMESPACE}.svc:${ports.control}`,
      `listener.id=${listener.id}`,
      "listener.existingSecret=heddle-listener",
      `listener.namespaces={${REMOTE}}`,
      "agent.enabled=true",
      "agent.replicas=1",
      `agent.image.repository=${AGENT_IMAGE.split(":")[0]}`,
      `agent.image.tag=${AGENT_IMAGE.split(":")[1]}`,
    ]);
    // a listener has no probes, so it is ready when it runs
    const upgraded = { ...wanted, listener: 1, agent: 1 };
    const isReplaced = async () => (await listPods()).every(({ metadata }) => !before.has(metadata.uid));
    await vi.waitUntil(isReplaced, { timeout: READY_MS, interval: 500 });
    await expect.poll(countReady, { timeout: READY_MS, interval: 500 }).toEqual(upgraded);
    isUpgrading = false;
    await watching;
    expect(least).toEqual(wanted);
    expect(failures).toEqual([]);
    expect((await fetch(`${await address("agent")}/readyz`)).status).toBe(200);

    await deploy("second", { listener_id: listener.id });
    await expect.poll(() => run("second"), { timeout: 60_000 }).toMatchObject({ word: "one" });
    expect(await podsIn(REMOTE)).toBe(1);
    expect(await podsIn(AGENTS)).toBe(1);
  });
});
