/** Tests of the test cluster itself, on which the tests of deployments and of the chart rely. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { missingPrograms } from "./binaries.ts";
import { startCluster, type TestCluster } from "./cluster.ts";
import type { Pod } from "./pod.ts";

const IMAGE = "localhost/node:smoke";
const PROGRAM = `
const server = require("http").createServer((request, response) => {
  if (request.url === "/exit") process.exit(3);
  response.end(JSON.stringify({ greeting: process.env.GREETING, uid: process.getuid() }));
});
server.listen(8000, () => console.log("listening"));
process.on("SIGTERM", () => (console.log("ending"), process.exit(0)));`;

const web = (replicas: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    template: {
      metadata: { labels: { app: "web" } },
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [
          {
            name: "main",
            image: IMAGE,
            command: ["node", "-e", PROGRAM],
            env: [{ name: "GREETING", valueFrom: { secretKeyRef: { name: "words", key: "greeting" } } }],
            readinessProbe: { httpGet: { path: "/", port: 8000 }, periodSeconds: 1 },
            securityContext: {
              runAsUser: 1000,
              runAsNonRoot: true,
              readOnlyRootFilesystem: true,
              allowPrivilegeEscalation: false,
              capabilities: { drop: ["ALL"] },
            },
          },
        ],
      },
    },
  },
});

describe.skipIf(missingPrograms().length > 0)("the test cluster", { timeout: 180_000 }, () => {
  let cluster: TestCluster;
  const PODS = "/api/v1/namespaces/default/pods";

  beforeAll(async () => {
    const directory = mkdtempSync(join(tmpdir(), "heddle-node-image-"));
    const archive = join(directory, "node.tar");
    const script = fileURLToPath(new URL("../../scripts/build/agent-image.mjs", import.meta.url));
    await promisify(execFile)(process.execPath, [script, archive, "--without-heddle"]);
    cluster = await startCluster({ nodes: ["a", "b"] });
    await cluster.importImage(archive, IMAGE, []);
    rmSync(directory, { recursive: true });
  }, 300_000);

  afterAll(() => cluster?.stop(), 60_000);

  const listPods = async () => (await cluster.client.call<{ items: Pod[] }>("GET", PODS)).items;
  const isReady = (pod: Pod) => JSON.stringify(pod.status).includes('"ready":true');
  const untilReady = async (count: number): Promise<Pod[]> => {
    const ready = async () => (await listPods()).filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp);
    await vi.waitUntil(async () => (await ready()).length === count, { timeout: 60_000, interval: 200 });
    return ready();
  };
  const readLog = async (pod: Pod, query = "") => {
    const response = await cluster.client.open("GET", `${PODS}/${pod.metadata.name}/log${query}`);
    let text = "";
    for await (const chunk of response) text += String(chunk);
    return text;
  };

  test("a deployment's pod waits for its secret, runs, answers, logs, restarts and ends in time", async () => {
    await cluster.client.call("POST", "/apis/apps/v1/namespaces/default/deployments", web(1));
    await vi.waitUntil(
      async () => JSON.stringify((await listPods())[0]?.status ?? "").includes("CreateContainerConfigError"),
      { timeout: 30_000, interval: 200 },
    );
    const data = { greeting: Buffer.from("hello").toString("base64") };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "words" }, data };
    await cluster.client.call("POST", "/api/v1/namespaces/default/secrets", secret);
    const [pod] = await untilReady(1);
    const url = `http://${pod!.status!.podIP}:8000`;
    expect(await (await fetch(url)).json()).toEqual({ greeting: "hello", uid: 1000 });
    expect(await readLog(pod!)).toBe("listening\n");

    await fetch(`${url}/exit`).catch(() => {});
    await vi.waitUntil(async () => /"restartCount":1/.test(JSON.stringify((await listPods())[0]!.status)), {
      timeout: 30_000,
    });
    const [restarted] = await untilReady(1);
    expect(restarted!.status!.podIP).toBe(pod!.status!.podIP);
    expect(await readLog(pod!, "?previous=true")).toBe("listening\n");

    const followed = readLog(pod!, "?follow=true&tailLines=0");
    await cluster.client.call("DELETE", `${PODS}/${pod!.metadata.name}`);
    expect(await followed).toBe("ending\n");
    await vi.waitUntil(async () => (await listPods()).every(({ metadata }) => metadata.uid !== pod!.metadata.uid), {
      timeout: 30_000,
    });
  });

  test("pods keep running while the API server is frozen or killed", async () => {
    const [pod] = await untilReady(1);
    const url = `http://${pod!.status!.podIP}:8000`;
    cluster.freezeApiServer();
    expect((await fetch(url)).status).toBe(200);
    cluster.thawApiServer();
    await cluster.killApiServer();
    expect((await fetch(url)).status).toBe(200);
    await cluster.startApiServer();
    expect((await listPods()).map(({ metadata }) => metadata.uid)).toContain(pod!.metadata.uid);
  });

  test("replaces the pods of a lost node on another node", async () => {
    const [pod] = await untilReady(1);
    const node = pod!.spec.nodeName!;
    await cluster.stopNode(node);
    const elsewhere = async () => (await listPods()).filter((other) => other.spec.nodeName !== node && isReady(other));
    await vi.waitUntil(async () => (await elsewhere()).length > 0, { timeout: 60_000, interval: 200 });
    const [successor] = await elsewhere();
    expect((await fetch(`http://${successor!.status!.podIP}:8000`)).status).toBe(200);
  });
});
