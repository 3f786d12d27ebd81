/** Kubernetes cluster for tests: the real control plane as processes, and nodes that run pods with Podman. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { importImage, openPodman, type TestPodman } from "../../server/test/podman.ts";
import { missingPrograms } from "./binaries.ts";
import { ControlPlane } from "./control-plane.ts";
import { KubeClient } from "./kube-client.ts";
import { Kubelet } from "./kubelet.ts";
import { CLUSTER_PREFIX, markOwner, sweepClusters } from "./sweep.ts";

export interface TestCluster {
  /** Path of the administrator's kubeconfig. */
  kubeconfig: string;
  /** Administrator's client. */
  client: KubeClient;
  /** Images of the nodes; `trust` allows plain HTTP to a registry. */
  podman: TestPodman;
  /** Makes an image available on all nodes. `archive`: tar of its root file system; `changes`: lines of a Dockerfile. */
  importImage(archive: string, name: string, changes: string[]): Promise<void>;
  killApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  freezeApiServer(): void;
  thawApiServer(): void;
  /** Adds a node. Resolves when it is registered. */
  addNode(name: string): Promise<void>;
  /** Stops a node as if its machine lost power. */
  stopNode(name: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Names of nodes; default: `node-1`. */
  nodes?: string[];
  /** Default: a free port. */
  apiPort?: number;
  /** Directory of the cluster's files, removed by `stop`. Default: a temporary one. */
  directory?: string;
  backoffMs?: number;
  /** Addresses of names in all pods, in place of the DNS of Services. */
  hosts?: Record<string, string>;
  /** Seconds without a heartbeat after which a node is lost. Default: 6. */
  nodeGraceSeconds?: number;
}

/** Image of every node whose container does nothing. */
export const PAUSE_IMAGE = "localhost/heddle-pause:1";

/** Starts a cluster. Throws, and names the missing programs, if some are not installed. */
export async function startCluster(options: ClusterOptions = {}): Promise<TestCluster> {
  const missing = missingPrograms();
  if (missing.length > 0) throw new Error(`A test cluster needs ${missing.join(", ")}.`);
  sweepClusters();
  const { nodes = ["node-1"], apiPort, nodeGraceSeconds, backoffMs = 2000, hosts = {} } = options;
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), CLUSTER_PREFIX));
  mkdirSync(directory, { recursive: true });
  markOwner(directory);
  const podman = openPodman(join(directory, "podman"));
  const controlPlane = new ControlPlane(directory);
  const kubelets = new Map<string, Kubelet>();
  let client: KubeClient | undefined;
  const stop = async () => {
    await Promise.all([...kubelets.values()].map((kubelet) => kubelet.vanish()));
    client?.close();
    await controlPlane.stop();
    await podman.remove();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await podman.start();
    await Promise.all([controlPlane.start({ apiPort, nodeGraceSeconds }), importPause(podman, directory)]);
    const admin = controlPlane.certificates.client("kubernetes-admin", ["system:masters"]);
    client = new KubeClient(controlPlane.credentials(admin));
    const addNode = async (name: string) => {
      const { certificates } = controlPlane;
      const user = certificates.client(`system:node:${name}`, ["system:nodes"]);
      const kubelet = new Kubelet({
        name,
        engine: podman.engine,
        pauseImage: PAUSE_IMAGE,
        credentials: controlPlane.credentials(user),
        certificate: certificates.server(`kubelet-${name}`, ["127.0.0.1"]),
        directory: join(directory, "pods", name),
        backoffMs,
        hosts,
      });
      kubelets.set(name, kubelet);
      await kubelet.start();
    };
    for (const name of nodes) await addNode(name);
    return {
      kubeconfig: controlPlane.writeKubeconfig("admin", admin),
      client,
      podman,
      importImage: (archive, name, changes) => importImage(podman, archive, name, changes),
      killApiServer: () => controlPlane.killApiServer(),
      startApiServer: () => controlPlane.startApiServer(),
      freezeApiServer: () => controlPlane.freezeApiServer(),
      thawApiServer: () => controlPlane.thawApiServer(),
      addNode,
      async stopNode(name) {
        await kubelets.get(name)?.vanish();
        kubelets.delete(name);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Imports the pause image, whose container holds the network of a pod. */
async function importPause(podman: TestPodman, directory: string): Promise<void> {
  const [stage, archive] = [join(directory, "pause"), join(directory, "pause.tar")];
  mkdirSync(stage, { recursive: true });
  const program = ["/usr/bin/catatonit", "/usr/libexec/podman/catatonit"].find((path) => existsSync(path));
  if (program === undefined) throw new Error("catatonit is not installed; install the Debian package catatonit.");
  copyFileSync(program, join(stage, "pause"));
  execFileSync("tar", ["-C", stage, "-cf", archive, "pause"]);
  await importImage(podman, archive, PAUSE_IMAGE, ['ENTRYPOINT ["/pause","-P"]']);
}
