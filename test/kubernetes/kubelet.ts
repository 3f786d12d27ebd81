/**
 * Small kubelet for tests: registers a node, runs the pods that are bound to it with Podman, and reports their status.
 * Pods have addresses on Podman's bridge, which this machine can reach. NetworkPolicies, persistent volumes and the DNS
 * names of Services are not supported.
 */
import type { Server } from "node:https";
import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import type { Engine } from "../../server/src/control/drivers/container/engine.ts";
import { BRIDGE_ADDRESS } from "../../server/test/podman.ts";
import { KUBERNETES_VERSION } from "./binaries.ts";
import type { Certificate } from "./certificates.ts";
import { KubeClient, KubeError, STRATEGIC_PATCH, type Credentials } from "./kube-client.ts";
import { startKubeletServer } from "./kubelet-server.ts";
import type { Pod } from "./pod.ts";
import { PodWorker } from "./pod-worker.ts";

export interface KubeletOptions {
  name: string;
  engine: Engine;
  pauseImage: string;
  credentials: Credentials;
  /** For the kubelet's own API. */
  certificate: Certificate;
  directory: string;
  /** See `PodContext`. */
  backoffMs: number;
  /** Addresses of names in all pods. */
  hosts: Record<string, string>;
}

const HEARTBEAT_MS = 1000;
/** Capacity that the node reports, so that the pods of tests can always be scheduled. */
const CAPACITY = { cpu: "64", memory: "256Gi", pods: "200", "ephemeral-storage": "100Gi" };

export class Kubelet {
  readonly name: string;
  readonly #options: KubeletOptions;
  readonly #client: KubeClient;
  readonly #workers = new Map<string, PodWorker>();
  /** Pods that ended here and whose deletion has not been observed yet. */
  readonly #ended = new Set<string>();
  readonly #stop = new AbortController();
  #server: Server | undefined;
  #port = 0;
  #isNodeKnown = false;

  constructor(options: KubeletOptions) {
    this.name = options.name;
    this.#options = options;
    this.#client = new KubeClient(options.credentials);
  }

  async start(): Promise<void> {
    mkdirSync(this.#options.directory, { recursive: true });
    const { certificate, credentials } = this.#options;
    const find = (namespace: string, name: string, container: string) =>
      [...this.#workers.values()]
        .find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name)
        ?.findContainer(container);
    const { port, server } = await startKubeletServer(certificate, credentials.ca, find);
    this.#server = server;
    this.#port = port;
    await this.#register();
    void this.#heartbeat();
    void this.#client.follow<Pod>(
      `/api/v1/pods?fieldSelector=spec.nodeName%3D${this.name}`,
      {
        onList: (pods) => {
          const known = new Set(pods.map(({ metadata }) => metadata.uid));
          for (const [uid, worker] of this.#workers) if (!known.has(uid)) worker.delete();
          for (const uid of this.#ended) if (!known.has(uid)) this.#ended.delete(uid);
          for (const pod of pods) this.#take(pod);
        },
        onEvent: (type, pod) => {
          if (type !== "DELETED") return this.#take(pod);
          this.#workers.get(pod.metadata.uid)?.delete();
          this.#ended.delete(pod.metadata.uid);
        },
      },
      this.#stop.signal,
    );
  }

  /** Stops the node as if its machine lost power: kills its containers and reports nothing. */
  async vanish(): Promise<void> {
    this.#stop.abort();
    this.#server?.close();
    this.#server?.closeAllConnections();
    await Promise.all([...this.#workers.values()].map((worker) => worker.vanish()));
    this.#client.close();
  }

  #take(pod: Pod): void {
    if (this.#stop.signal.aborted || this.#ended.has(pod.metadata.uid)) return;
    const { uid, deletionTimestamp } = pod.metadata;
    const worker = this.#workers.get(uid);
    if (worker) return worker.update(pod);
    const isOver = ["Succeeded", "Failed"].includes(pod.status?.phase ?? "");
    if (isOver && deletionTimestamp === undefined) return;
    const { engine, pauseImage, directory, backoffMs, hosts } = this.#options;
    const api = { host: BRIDGE_ADDRESS, port: Number(new URL(this.#client.server).port) };
    const onGone = () => {
      this.#workers.delete(uid);
      this.#ended.add(uid);
    };
    const options = { engine, client: this.#client, api, directory, backoffMs, hosts, pauseImage, onGone };
    const created = new PodWorker(options, pod);
    this.#workers.set(uid, created);
    created.update(pod);
  }

  async #register(): Promise<void> {
    const labels = { "kubernetes.io/hostname": this.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": ARCH };
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: this.name, labels } };
    await this.#client.call("POST", "/api/v1/nodes", node).catch((error: unknown) => {
      if (!(error instanceof KubeError && error.status === 409)) throw error;
    });
    await this.#reportNode();
  }

  async #reportNode(): Promise<void> {
    const now = new Date().toISOString();
    const condition = (type: string, status: string, reason: string) => ({
      ...{ type, status, reason, message: reason, lastHeartbeatTime: now, lastTransitionTime: now },
    });
    const status = {
      capacity: CAPACITY,
      allocatable: CAPACITY,
      addresses: [
        { type: "InternalIP", address: "127.0.0.1" },
        { type: "Hostname", address: this.name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: this.#port } },
      nodeInfo: {
        ...{ machineID: this.name, systemUUID: this.name, bootID: this.name, kernelVersion: "", osImage: "" },
        ...{ containerRuntimeVersion: "podman://4", kubeletVersion: `v${KUBERNETES_VERSION}`, kubeProxyVersion: "" },
        ...{ operatingSystem: "linux", architecture: ARCH },
      },
      conditions: [
        condition("Ready", "True", "KubeletReady"),
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
        condition("PIDPressure", "False", "KubeletHasSufficientPID"),
      ],
    };
    await this.#client.call("PATCH", `/api/v1/nodes/${this.name}/status`, { status }, STRATEGIC_PATCH);
    this.#isNodeKnown = true;
  }

  /** Renews the node's lease. Registers the node again if it was deleted. */
  async #heartbeat(): Promise<void> {
    const path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    const metadata = { name: this.name, namespace: "kube-node-lease" };
    for (let beat = 0; !this.#stop.signal.aborted; beat++) {
      const renewTime = new Date().toISOString().replace("Z", "000Z");
      const spec = { holderIdentity: this.name, leaseDurationSeconds: 40, renewTime };
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
      try {
        if (!this.#isNodeKnown) await this.#register();
        await this.#client
          .call("PATCH", `${path}/${this.name}`, lease, "application/merge-patch+json")
          .catch((error: unknown) => {
            if (error instanceof KubeError && error.status === 404) return this.#client.call("POST", path, lease);
            throw error;
          });
        // only the kubelet resets the conditions of a node that was unreachable
        if (beat % 5 === 0) await this.#reportNode();
      } catch (error) {
        if (error instanceof KubeError && error.status === 404) this.#isNodeKnown = false;
      }
      await sleep(HEARTBEAT_MS, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }
}

const ARCH = process.arch === "x64" ? "amd64" : process.arch;
