/** Metrics API of the test cluster (metrics.k8s.io), with metrics that tests set: the CPU time of each pod. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { tmpdir } from "node:os";

import { BRIDGE_ADDRESS } from "../../server/test/podman.ts";
import { Certificates } from "./certificates.ts";
import type { TestCluster } from "./cluster.ts";
import type { Pod } from "./pod.ts";

const GROUP = "metrics.k8s.io";
const NAMESPACE = "kube-system";

export interface MetricsApi {
  /** Sets the CPU time that each container uses from now on, in millicores. */
  use(millicores: number): void;
  close(): Promise<void>;
}

/** Serves the metrics API, and registers it with the API server. */
export async function serveMetrics({ client }: TestCluster): Promise<MetricsApi> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-metrics-"));
  const { certFile, keyFile } = new Certificates(directory).server("metrics", [BRIDGE_ADDRESS]);
  let millicores = 0;
  const list = async (namespace: string, selector: string | null) => {
    const query = selector === null ? "" : `?labelSelector=${encodeURIComponent(selector)}`;
    const { items } = await client.call<{ items: Pod[] }>("GET", `/api/v1/namespaces/${namespace}/pods${query}`);
    const running = items.filter(({ status }) => status?.phase === "Running");
    return running.map(({ metadata, spec }) => ({
      metadata: { name: metadata.name, namespace, labels: metadata.labels },
      timestamp: new Date().toISOString(),
      window: "5s",
      containers: spec.containers.map(({ name }) => ({ name, usage: { cpu: `${millicores}m`, memory: "100Mi" } })),
    }));
  };
  const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
    const url = new URL(request.url!, "https://metrics");
    const namespace = /\/namespaces\/([^/]+)\/pods$/.exec(url.pathname)?.[1];
    const answer = async (): Promise<object> => {
      if (namespace === undefined) return DISCOVERY;
      const items = await list(namespace, url.searchParams.get("labelSelector"));
      return { kind: "PodMetricsList", apiVersion: `${GROUP}/v1beta1`, metadata: {}, items };
    };
    response.setHeader("content-type", "application/json");
    answer().then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(JSON.stringify({ message: String(error) })),
    );
  });
  await new Promise<void>((done) => server.listen(0, BRIDGE_ADDRESS, done));
  const { port } = server.address() as AddressInfo;
  const metadata = { name: "metrics", namespace: NAMESPACE };
  const ports = [{ name: "https", port: 443, protocol: "TCP" }];
  const path = `/api/v1/namespaces/${NAMESPACE}`;
  await client.call("POST", `${path}/services`, { apiVersion: "v1", kind: "Service", metadata, spec: { ports } });
  const subsets = [{ addresses: [{ ip: BRIDGE_ADDRESS }], ports: [{ ...ports[0], port }] }];
  await client.call("POST", `${path}/endpoints`, { apiVersion: "v1", kind: "Endpoints", metadata, subsets });
  await client.call("POST", "/apis/apiregistration.k8s.io/v1/apiservices", {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1beta1.${GROUP}` },
    spec: {
      ...{ group: GROUP, version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
      ...{ service: { ...metadata, port: 443 }, insecureSkipTLSVerify: true },
    },
  });
  return {
    use(count) {
      millicores = count;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      rmSync(directory, { recursive: true });
    },
  };
}

const DISCOVERY = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: `${GROUP}/v1beta1`,
  resources: [{ name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] }],
};
