/**
 * Builds Kubernetes from its Go module, once per machine: about 4 minutes for the API server on two cores. The programs
 * are stored outside the repository.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

export const KUBERNETES_VERSION = "1.31.4";
const HELM = "helm.sh/helm/v3/cmd/helm@v3.17.3";

/** Returns the directory of the programs. HEDDLE_KUBERNETES_DIR overrides it. */
export const binariesDirectory = (): string =>
  process.env["HEDDLE_KUBERNETES_DIR"] ?? join(homedir(), ".cache", "heddle", `kubernetes-${KUBERNETES_VERSION}`);

const PROGRAMS = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;
export type Program = (typeof PROGRAMS)[number];

/** Required programs, with their Debian packages. */
const DEBIAN = { etcd: "etcd-server", podman: "podman", runc: "runc", catatonit: "catatonit", openssl: "openssl" };

export const binaryPath = (program: Program): string => join(binariesDirectory(), program);

/** Lists missing programs and how to install them; empty if a cluster can be started. */
export function missingPrograms(): string[] {
  const packages = Object.entries(DEBIAN)
    .filter(([program]) => spawnSync(program, ["--version"], { stdio: "ignore" }).error !== undefined)
    .map(([program, name]) => `${program} (Debian package ${name})`);
  const built = PROGRAMS.filter((program) => !existsSync(binaryPath(program)));
  return [
    ...packages,
    ...built.map((program) => `${program} (node --import tsx scripts/services/kubernetes.ts build)`),
  ];
}

/** Modules of Kubernetes that its go.mod replaces with directories, which its own module does not contain. */
const STAGING = [
  ...["api", "apiextensions-apiserver", "apimachinery", "apiserver", "cli-runtime", "client-go", "cloud-provider"],
  ...["cluster-bootstrap", "code-generator", "component-base", "component-helpers", "controller-manager", "cri-api"],
  ...["cri-client", "csi-translation-lib", "dynamic-resource-allocation", "endpointslice", "kms", "kube-aggregator"],
  ...["kube-controller-manager", "kube-proxy", "kube-scheduler", "kubectl", "kubelet", "metrics", "mount-utils"],
  ...["pod-security-admission", "sample-apiserver", "sample-cli-plugin", "sample-controller"],
];

/** Builds helm, which renders the chart, unless it exists. */
export function buildHelm(go: string, log: (line: string) => void): void {
  const directory = binariesDirectory();
  if (existsSync(join(directory, "helm"))) return;
  log(`Building ${HELM}.`);
  mkdirSync(directory, { recursive: true });
  execFileSync(go, ["install", "-trimpath", "-ldflags", "-s -w", HELM], {
    env: { ...process.env, GOBIN: directory, CGO_ENABLED: "0" },
    stdio: ["ignore", "inherit", "inherit"],
  });
}

/**
 * Builds the programs of the cluster that are missing. `go`: the Go toolchain, 1.22 or newer. Throws with the compiler's
 * output.
 */
export function buildPrograms(go: string, log: (line: string) => void): void {
  const directory = binariesDirectory();
  mkdirSync(directory, { recursive: true });
  const module = mkdtempSync(join(tmpdir(), "heddle-go-module-"));
  const replace = STAGING.map((name) => `\tk8s.io/${name} => k8s.io/${name} v0.${KUBERNETES_VERSION.slice(2)}`);
  writeFileSync(
    join(module, "go.mod"),
    `module heddle/kubernetes\n\ngo 1.22.0\n\nrequire k8s.io/kubernetes v${KUBERNETES_VERSION}\n\nreplace (\n${replace.join("\n")}\n)\n`,
  );
  const imports = PROGRAMS.map((program) => `\t_ "k8s.io/kubernetes/cmd/${program}"`).join("\n");
  writeFileSync(join(module, "tools.go"), `//go:build tools\n\npackage tools\n\nimport (\n${imports}\n)\n`);
  const version = "k8s.io/component-base/version";
  const [major, minor] = KUBERNETES_VERSION.split(".");
  const stamp = { gitVersion: `v${KUBERNETES_VERSION}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const flags = Object.entries(stamp).map(([name, value]) => `-X ${version}.${name}=${value}`);
  try {
    for (const program of PROGRAMS) {
      if (existsSync(binaryPath(program))) continue;
      log(`Building ${program} ${KUBERNETES_VERSION}.`);
      const out = `${binaryPath(program)}.${process.pid}`;
      const args = ["build", "-trimpath", "-ldflags", `-s -w ${flags.join(" ")}`, "-o", out];
      execFileSync(go, [...args, `k8s.io/kubernetes/cmd/${program}`], {
        cwd: module,
        env: { ...process.env, GOFLAGS: "-mod=mod -buildvcs=false", CGO_ENABLED: "0" },
        stdio: ["ignore", "inherit", "inherit"],
      });
      renameSync(out, binaryPath(program));
    }
  } finally {
    rmSync(module, { recursive: true, force: true });
  }
}
