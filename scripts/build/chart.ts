// The Helm chart in deploy/helm/heddle:
//
//     node --import tsx scripts/build/chart.ts            renders deploy/kubernetes/heddle.yaml from its values.yaml
//     node --import tsx scripts/build/chart.ts --check    fails if it is not up to date
//
// Needs helm: one on PATH, or the one that scripts/services/kubernetes.ts builds.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { binariesDirectory, KUBERNETES_VERSION } from "../../test/kubernetes/binaries.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const CHART = join(root, "deploy", "helm", "heddle");
export const RENDERED = join(root, "deploy", "kubernetes", "heddle.yaml");
export const VALUES = join(root, "deploy", "kubernetes", "values.yaml");

/** Returns the path of helm; undefined if it is not installed. */
export function findHelm(): string | undefined {
  const built = join(binariesDirectory(), "helm");
  if (existsSync(built)) return built;
  return spawnSync("helm", ["version"], { stdio: "ignore" }).error === undefined ? "helm" : undefined;
}

/** Renders the chart. Throws helm's message. `set`: values in the notation of `--set`. */
export function renderChart(helm: string, values: string, set: string[] = []): string {
  const args = ["template", "heddle", CHART, "--namespace", "heddle", "--values", values];
  const version = ["--kube-version", KUBERNETES_VERSION];
  return execFileSync(helm, [...args, ...version, ...set.flatMap((each) => ["--set", each])], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Returns the SHA-256 of the chart and the values from which `heddle.yaml` is rendered. */
export function inputsHash(): string {
  const files = readdirSync(CHART, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const file of [...files, VALUES].sort()) hash.update(`${relative(root, file)}\0${readFileSync(file, "utf8")}\0`);
  return hash.digest("hex");
}

const header = (): string =>
  `# Rendered from deploy/helm/heddle with deploy/kubernetes/values.yaml by scripts/build/chart.ts. Do not edit.\n` +
  `# Inputs: sha256:${inputsHash()}\n`;

/** Writes or compares the rendered manifests. Returns whether they were up to date. */
function main(isCheck: boolean): void {
  const helm = findHelm();
  if (helm === undefined) {
    console.error(
      "helm is not installed. Run node --import tsx scripts/services/kubernetes.ts build, or install helm 3.",
    );
    process.exitCode = 1;
    return;
  }
  const text = header() + renderChart(helm, VALUES);
  if (!isCheck) return writeFileSync(RENDERED, text);
  if (existsSync(RENDERED) && readFileSync(RENDERED, "utf8") === text) return;
  console.error("deploy/kubernetes/heddle.yaml is not up to date. Run node --import tsx scripts/build/chart.ts.");
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.includes("--check"));
