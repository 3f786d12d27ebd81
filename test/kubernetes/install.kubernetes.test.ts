/**
 * Tests of a running installation by the chart: control planes and consoles in pods. HEDDLE_TEST_IMAGE names an archive
 * of Dockerfile's image, from `podman save` or `docker save`.
 */
import { randomBytes } from "node:crypto";

import { describe, expect, test, vi } from "vitest";

import { findHelm, renderChart, VALUES } from "../../scripts/chart.ts";
import { atEnd } from "../../server/test/at-end.ts";
import { testDatabase } from "../../server/test/db.ts";
import { BRIDGE_ADDRESS, openToContainers } from "../../server/test/podman.ts";
import { applyManifest } from "./apply.ts";
import { missingPrograms } from "./binaries.ts";
import { startCluster } from "./cluster.ts";
import type { Pod } from "./pod.ts";
import { parseManifests } from "./validate.ts";

const archive = process.env["HEDDLE_TEST_IMAGE"];
const helm = findHelm();
const canRun = archive !== undefined && helm !== undefined && missingPrograms().length === 0;

const NAMESPACE = "heddle";
const SET = [
  "image.repository=localhost/heddle",
  "redis.existingSecret=",
  "control.persistence.enabled=false",
  "control.replicas=2",
  "control.persistence.accessMode=ReadWriteMany",
  "trace.enabled=false",
  "tracing.existingSecret=",
  "trustedProxies=",
  "drainDelaySeconds=1",
];
/** Ports of the roles, each with two pods. */
const ROLES: Record<string, number> = { console: 3000, control: 2026 };
const POD_COUNT = 2 * Object.keys(ROLES).length;

const secret = (name: string, stringData: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: NAMESPACE },
  stringData,
});

describe.skipIf(!canRun)("an installation", { timeout: 600_000 }, () => {
  test("becomes ready without privileges on a read-only root, and is upgraded without downtime", async () => {
    const db = await testDatabase();
    const uri = new URL(db.uri);
    const way = await openToContainers(Number(uri.port));
    atEnd(() => way.close());
    [uri.hostname, uri.port] = [BRIDGE_ADDRESS, String(way.port)];
    const cluster = await startCluster({ nodes: ["a", "b"] });
    atEnd(() => cluster.stop());
    await cluster.podman.run("load", "--input", archive!);
    const { client } = cluster;
    await client.call("POST", "/api/v1/namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: NAMESPACE, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    });
    await applyManifest(client, secret("heddle-postgres", { DATABASE_URI: uri.href }));
    const keys = `k1:${randomBytes(32).toString("base64")}`;
    await applyManifest(client, secret("heddle-encryption", { HEDDLE_SECRETS_KEYS: keys }));
    const render = (set: string[]) => parseManifests(renderChart(helm!, VALUES, [...SET, ...set]));
    for (const manifest of render([])) await applyManifest(client, manifest);

    const listPods = async () =>
      (await client.call<{ items: Pod[] }>("GET", `/api/v1/namespaces/${NAMESPACE}/pods`)).items;
    const component = ({ metadata }: Pod) => metadata.labels?.["app.kubernetes.io/component"];
    const readyPods = async () =>
      (await listPods()).filter(
        (pod) => pod.metadata.deletionTimestamp === undefined && /"ready":true/.test(JSON.stringify(pod.status)),
      );
    const untilReady = () =>
      vi.waitUntil(async () => (await readyPods()).length === POD_COUNT && (await listPods()).length === POD_COUNT, {
        timeout: 240_000,
        interval: 500,
      });
    await untilReady();
    const answers = await Promise.all(
      (await readyPods()).map(async (pod) => {
        const role = component(pod)!;
        const response = await fetch(`http://${pod.status!.podIP}:${ROLES[role]}/readyz`);
        return `${role} ${response.status}`;
      }),
    );
    expect(answers.sort()).toEqual(Object.keys(ROLES).flatMap((role) => [`${role} 200`, `${role} 200`]));
    const [control] = (await readyPods()).filter((pod) => component(pod) === "control");
    const unauthorized = await fetch(`http://${control!.status!.podIP}:2026/v2/deployments`);
    expect(unauthorized.status).toBe(401);

    const before = new Set((await listPods()).map(({ metadata }) => metadata.uid));
    const least = Object.fromEntries(Object.keys(ROLES).map((role) => [role, 2]));
    for (const manifest of render(["settings.HEDDLE_LOG_LEVEL=debug"])) await applyManifest(client, manifest);
    await vi.waitUntil(
      async () => {
        const ready = await readyPods();
        for (const role of Object.keys(least))
          least[role] = Math.min(least[role]!, ready.filter((pod) => component(pod) === role).length);
        const pods = await listPods();
        return (
          pods.length === POD_COUNT &&
          ready.length === POD_COUNT &&
          pods.every(({ metadata }) => !before.has(metadata.uid))
        );
      },
      { timeout: 240_000, interval: 200 },
    );
    expect(least).toEqual({ console: 2, control: 2 });
  });
});
