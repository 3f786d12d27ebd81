/**
 * Makes the artifacts of a release, its notes and its tag:
 *
 *     npm run release -- [--dry-run] [--skip-tests] [--no-image] [--out release] [--repository URL]
 *
 * npm package, Helm chart, image for two architectures as an OCI archive, software bill of materials, notes from
 * CHANGELOG.md and SHA256SUMS. Publishes nothing: it prints the commands for that. `--dry-run` makes no tag either, and
 * alone may leave out the tests and the commit (`--allow-dirty`). A tag that already names this commit is kept.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { create } from "tar";

import { findProblems, findSection, git, readVersions } from "./release-checks.ts";

const PLATFORMS = "linux/amd64,linux/arm64";
const root = resolve(import.meta.dirname, "../..");
const { values: options } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    "skip-tests": { type: "boolean", default: false },
    "allow-dirty": { type: "boolean", default: false },
    "no-image": { type: "boolean", default: false },
    out: { type: "string", default: join(root, "release") },
    repository: { type: "string" },
  },
});
const isDryRun = options["dry-run"];
const out = resolve(options.out);
const version = readVersions(root).get("package.json")!;
const tag = `v${version}`;

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
const isThere = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: "ignore" }).status === 0;

/** Runs a step and prints its time. */
async function step(name: string, work: () => unknown): Promise<void> {
  const started = Date.now();
  await work();
  console.log(`${name.padEnd(8)} ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

const engine = isThere("docker", "buildx", "version")
  ? "docker"
  : isThere("podman", "--version")
    ? "podman"
    : undefined;

function buildImage(file: string): void {
  const image = `heddle:${version}`;
  if (engine === "docker") {
    run("docker", "buildx", "build", "--platform", PLATFORMS, "--tag", image, "--output", `type=oci,dest=${file}`, ".");
  } else {
    // it would append to a list of the same name, and take a cached layer for that of another architecture
    spawnSync("podman", ["manifest", "rm", image], { stdio: "ignore" });
    run("podman", "build", "--no-cache", "--platform", PLATFORMS, "--manifest", image, ".");
    run("podman", "manifest", "push", "--all", image, `oci-archive:${file}`);
  }
}

/** The package that `helm package` makes, without helm: the chart's directory as a compressed archive. */
function packChart(): Promise<void> {
  const mtime = new Date(git(root, "log", "-1", "--format=%cI")!);
  const filter = (path: string) => !path.endsWith(".tgz");
  const file = join(out, `heddle-chart-${version}.tgz`);
  return create({ file, gzip: true, portable: true, mtime, filter, cwd: join(root, "deploy", "helm") }, ["heddle"]);
}

/** Writes the notes. With the repository's URL, links to its files are absolute, as pages of releases need them. */
function writeNotes(): void {
  const { text } = findSection(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version)!;
  const absolute = (target: string) => `](${options.repository}/blob/${tag}/${target})`;
  const linked = text.replace(/\]\((?!\w+:)([^)]+)\)/g, (link, target: string) =>
    options.repository === undefined ? link : absolute(target),
  );
  writeFileSync(join(out, "NOTES.md"), `# Heddle ${version}\n\n${linked}\n`);
}

function writeChecksums(): void {
  const files = readdirSync(out).sort();
  const lines = files.map((file) => {
    const hash = createHash("sha256").update(readFileSync(join(out, file)));
    return `${hash.digest("hex")}  ${file}\n`;
  });
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
}

const problems = findProblems(root, { allowDirty: isDryRun && options["allow-dirty"] });
if (!isDryRun && options["skip-tests"]) problems.push("--skip-tests is for --dry-run only.");
if (!options["no-image"] && engine === undefined && !isDryRun) {
  problems.push("The image needs docker with buildx, or podman: install one, or pass --no-image.");
}
if (problems.length > 0) {
  console.error(`${version} cannot be released:\n${problems.map((problem) => `- ${problem}`).join("\n")}`);
  process.exit(1);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
if (!options["skip-tests"]) await step("tests", () => run(join(root, ".ci", "run")));
await step("package", () => run("npm", "pack", "--silent", "--pack-destination", out));
await step("sbom", () => run(process.execPath, "scripts/build/sbom.mjs", join(out, `heddle-${version}.cdx.json`)));
await step("chart", packChart);
if (options["no-image"] || engine === undefined) console.log("image    left out");
else await step("image", () => buildImage(join(out, `heddle-${version}-image.tar`)));
writeNotes();
writeChecksums();

for (const file of readdirSync(out)) {
  console.log(`${(statSync(join(out, file)).size / 1e6).toFixed(1).padStart(8)} MB  ${join(basename(out), file)}`);
}
if (isDryRun) console.log(`Dry run: no tag, nothing published. ${version} can be released.`);
else {
  if (git(root, "rev-parse", "--verify", "--quiet", `refs/tags/${tag}`) === undefined) {
    run("git", "tag", "--annotate", tag, "--cleanup", "verbatim", "--file", join(out, "NOTES.md"));
  }
  console.log(
    `Tagged ${tag}. To publish:\n  git push origin ${tag}\n  npm publish ${join(out, `heddle-${version}.tgz`)}`,
  );
}
