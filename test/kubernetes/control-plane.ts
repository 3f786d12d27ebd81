/** The processes of the test cluster's control plane: etcd, API server, controller manager and scheduler. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { freePort } from "../../server/src/base/free-port.ts";
import { BRIDGE_ADDRESS } from "../../server/test/podman.ts";
import { binaryPath } from "./binaries.ts";
import { type Certificate, Certificates } from "./certificates.ts";
import { type Credentials, KubeClient } from "./kube-client.ts";

const READY_MS = 120_000;

export class ControlPlane {
  readonly certificates: Certificates;
  readonly #directory: string;
  readonly #children = new Map<string, ChildProcess>();
  #apiPort = 0;
  #etcdPort = 0;

  /** @param directory of the state, certificates and logs of the processes */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(join(directory, "certificates"), { recursive: true });
    this.certificates = new Certificates(join(directory, "certificates"));
  }

  get server(): string {
    return `https://127.0.0.1:${this.#apiPort}`;
  }

  credentials({ certFile, keyFile }: Certificate): Credentials {
    const { ca } = this.certificates;
    return { server: this.server, ca, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  }

  async start({ apiPort, nodeGraceSeconds = 6 }: { apiPort?: number; nodeGraceSeconds?: number } = {}): Promise<void> {
    const etcdPort = await freePort();
    const peerPort = await freePort();
    this.#etcdPort = etcdPort;
    this.#apiPort = apiPort ?? (await freePort());
    const peer = `http://127.0.0.1:${peerPort}`;
    this.#run("etcd", "etcd", [
      ...["--data-dir", join(this.#directory, "etcd"), "--name", "test", "--log-level", "warn", "--logger", "zap"],
      ...["--listen-client-urls", this.#etcd, "--advertise-client-urls", this.#etcd],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `test=${peer}`],
    ]);
    await this.startApiServer();
    this.#startClient("kube-controller-manager", [
      ...["--service-account-private-key-file", this.certificates.signingKey()],
      ...["--root-ca-file", this.certificates.caFile, "--use-service-account-credentials=true"],
      // a lost node is detected within seconds
      ...["--node-monitor-period=1s", `--node-monitor-grace-period=${nodeGraceSeconds}s`],
      // autoscalers act within seconds
      ...["--horizontal-pod-autoscaler-sync-period=2s", "--horizontal-pod-autoscaler-downscale-stabilization=5s"],
      ...["--horizontal-pod-autoscaler-initial-readiness-delay=1s"],
      ...["--horizontal-pod-autoscaler-cpu-initialization-period=1s"],
    ]);
    this.#startClient("kube-scheduler", []);
  }

  /** Starts the API server. Resolves when it is ready. */
  async startApiServer(): Promise<void> {
    const { certificates } = this;
    const names = ["localhost", "kubernetes", "kubernetes.default.svc", "127.0.0.1", BRIDGE_ADDRESS, "10.96.0.1"];
    const serving = certificates.server("kube-apiserver", names);
    const kubelet = certificates.client("kube-apiserver-kubelet-client", ["system:masters"]);
    this.#run("kube-apiserver", binaryPath("kube-apiserver"), [
      ...["--etcd-servers", this.#etcd, "--secure-port", String(this.#apiPort)],
      ...["--advertise-address", BRIDGE_ADDRESS, "--service-cluster-ip-range", "10.96.0.0/16"],
      ...["--tls-cert-file", serving.certFile, "--tls-private-key-file", serving.keyFile],
      ...["--client-ca-file", certificates.caFile, "--authorization-mode", "Node,RBAC"],
      ...["--kubelet-client-certificate", kubelet.certFile, "--kubelet-client-key", kubelet.keyFile],
      ...["--kubelet-preferred-address-types", "InternalIP"],
      ...["--service-account-issuer", "https://kubernetes.default.svc"],
      ...["--service-account-key-file", certificates.signingKey()],
      ...["--service-account-signing-key-file", certificates.signingKey()],
      ...["--default-not-ready-toleration-seconds=2", "--default-unreachable-toleration-seconds=2"],
      // no kube-proxy routes ClusterIPs: extension APIs are reached at their endpoints
      ...["--enable-aggregator-routing=true", "--profiling=false"],
    ]);
    const admin = certificates.client("kubernetes-admin", ["system:masters"]);
    const client = new KubeClient(this.credentials(admin));
    try {
      await this.#until("kube-apiserver", async () => {
        const response = await client.open("GET", "/readyz", { signal: AbortSignal.timeout(2000) });
        response.resume();
      });
    } finally {
      client.close();
    }
  }

  /** Kills the API server. Resolves when it has ended. */
  killApiServer(): Promise<void> {
    return this.#end("kube-apiserver", "SIGKILL");
  }

  /** Suspends the API server: connections stay open without responses. */
  freezeApiServer(): void {
    this.#children.get("kube-apiserver")?.kill("SIGSTOP");
  }

  thawApiServer(): void {
    this.#children.get("kube-apiserver")?.kill("SIGCONT");
  }

  async stop(): Promise<void> {
    for (const name of ["kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd"]) {
      await this.#end(name, "SIGKILL");
    }
  }

  /** Writes a kubeconfig for the certificate's user. Returns its path. */
  writeKubeconfig(name: string, { certFile, keyFile }: Certificate): string {
    const base64 = (file: string) => readFileSync(file).toString("base64");
    const file = join(this.#directory, `${name}.kubeconfig`);
    // JSON is YAML
    const config = {
      apiVersion: "v1",
      kind: "Config",
      "current-context": "test",
      contexts: [{ name: "test", context: { cluster: "test", user: name } }],
      clusters: [
        {
          name: "test",
          cluster: { server: this.server, "certificate-authority-data": base64(this.certificates.caFile) },
        },
      ],
      users: [{ name, user: { "client-certificate-data": base64(certFile), "client-key-data": base64(keyFile) } }],
    };
    writeFileSync(file, JSON.stringify(config, null, 2), { mode: 0o600 });
    return file;
  }

  get #etcd(): string {
    return `http://127.0.0.1:${this.#etcdPort}`;
  }

  #startClient(program: "kube-controller-manager" | "kube-scheduler", args: string[]): void {
    const certificate = this.certificates.client(`system:${program}`);
    const kubeconfig = this.writeKubeconfig(program, certificate);
    const common = ["--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0"];
    this.#run(program, binaryPath(program), [...common, ...args]);
  }

  #run(name: string, program: string, args: string[]): void {
    const log = openSync(join(this.#directory, `${name}.log`), "a");
    const child = spawn(program, args, { stdio: ["ignore", log, log] });
    this.#children.set(name, child);
    process.once("exit", () => child.kill("SIGKILL"));
  }

  async #end(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }

  async #until(name: string, attempt: () => Promise<void>): Promise<void> {
    const child = this.#children.get(name)!;
    for (const deadline = Date.now() + READY_MS; ; await sleep(100)) {
      try {
        return await attempt();
      } catch (error) {
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        if (!hasEnded && Date.now() < deadline) continue;
        const tail = readFileSync(join(this.#directory, `${name}.log`), "utf8").slice(-2000);
        throw new Error(`${name} does not start: ${(error as Error).message}\n${tail}`, { cause: error });
      }
    }
  }
}
