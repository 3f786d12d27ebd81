import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { pino } from "pino";
import { expect, test } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { KubernetesApi } from "./api/kubernetes-api.ts";
import type { UsageReport } from "./desired-deployment.ts";
import { parseQuantity, PodUsage, readUsage } from "./pod-usage.ts";

test("parses quantities as the Kubernetes API writes them", () => {
  const values = {
    "250m": 0.25,
    "12345678n": 0.012345678,
    "3u": 3e-6,
    "0": 0,
    "2": 2,
    "1e3": 1000,
    "1.5Gi": 1.5 * 2 ** 30,
    "123Mi": 123 * 2 ** 20,
    "5k": 5000,
    "1E": 1e18,
  };
  for (const [text, value] of Object.entries(values)) expect(parseQuantity(text)).toBeCloseTo(value, 12);
  for (const text of ["", "x", "1KiB", "-", "1 Mi", undefined]) expect(parseQuantity(text)).toBeNull();
});

test("reads the agent server's container only, and nothing where a metric is missing", () => {
  const pod = (usage: object) => ({
    metadata: { name: "p" },
    containers: [
      { name: "side", usage: { cpu: "3", memory: "1Gi" } },
      { name: "agent", usage },
    ],
  });
  expect(readUsage(pod({ cpu: "123456789n", memory: "2048Ki" }))).toEqual({ memoryBytes: 2 ** 21, cpuPercent: 12.3 });
  expect(readUsage(pod({ cpu: "1" }))).toBeNull();
  expect(readUsage({ metadata: { name: "p" }, containers: [] })).toBeNull();
});

/** Reads once from an API server that answers with a status and a body. */
async function readFrom(status: number, body: object): Promise<{ report: UsageReport | undefined; urls: string[] }> {
  const urls: string[] = [];
  const server = createServer((request, response) => {
    urls.push(request.url!);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const api = new KubernetesApi({
    server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    ca: null,
    serverName: null,
    insecure: false,
    namespace: null,
    ownNamespace: null,
    credentials: async () => ({ token: null, cert: null, key: null }),
  });
  const usage = new PodUsage({
    api,
    log: pino({ level: "silent" }),
    settings: { place: "here", namespaces: ["agents", "unused"] },
    pods: () => [{ uid: "u1", name: "p1", namespace: "agents" }],
  });
  atEnd(() => {
    api.close();
    server.closeAllConnections();
    server.close();
  });
  usage.start();
  await expect.poll(() => urls.length).toBeGreaterThan(0);
  let report: UsageReport | undefined;
  for (let tries = 0; tries < 20 && report === undefined; tries++) {
    await new Promise((done) => setTimeout(done, 20));
    report = usage.take();
  }
  await usage.stop();
  expect(usage.take()).toBeUndefined();
  return { report, urls };
}

test("reports the metrics of its own pods, once for each reading", async () => {
  const metrics = (name: string) => ({
    metadata: { name },
    containers: [{ name: "agent", usage: { cpu: "500m", memory: "64Mi" } }],
  });
  const { report, urls } = await readFrom(200, { items: [metrics("p1"), metrics("unknown")] });
  expect(report).toEqual({ problem: null, pods: [{ uid: "u1", memoryBytes: 64 * 2 ** 20, cpuPercent: 50 }] });
  expect(urls).toEqual(["/apis/metrics.k8s.io/v1beta1/namespaces/agents/pods?labelSelector=heddle.place%3Dhere"]);
});

test("says why there are no metrics: no metrics API, no permission, no metrics server", async () => {
  const problem = async (status: number) => (await readFrom(status, { reason: "X", message: "why" })).report?.problem;
  expect(await problem(404)).toContain("has no metrics API (metrics.k8s.io)");
  expect(await problem(403)).toContain("Grant get and list");
  expect(await problem(503)).toContain("does not respond");
});

test("an API server that fails otherwise is not reported as a missing metrics API", async () => {
  expect((await readFrom(500, { message: "why" })).report).toBeUndefined();
});
