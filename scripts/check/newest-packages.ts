/**
 * Tells which packages of the field (LangGraph, LangChain, LangSmith and front ends for them) are published in a newer
 * version than the newest that is tested here:
 *
 *     node --import tsx scripts/check/newest-packages.ts
 *
 * Tested are the versions of the lock file, of each package.json and of each requirements file. A newer version is a
 * task, not a failure; the exit code is 77 when no registry answers.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { isBelow } from "../../conformance/lacks.ts";
import { trackedFiles } from "./tracked-files.mjs";

const SKIPPED = 77;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const OF_NPM =
  /^(@langchain\/.+|langchain|langsmith|deepagents|ai|@ai-sdk\/.+|@assistant-ui\/.+|@copilotkit\/.+|@modelcontextprotocol\/sdk|@a2a-js\/sdk)$/;
const OF_PYPI = /^(langgraph|langchain|langsmith|deepagents)(-.+)?$/;

/** Newest tested version by name. */
type Tested = Map<string, string>;

function note(tested: Tested, name: string, version: string): void {
  const known = tested.get(name);
  if (/^\d/.test(version) && (known === undefined || isBelow(known, version))) tested.set(name, version);
}

const tracked = (end: string): string[] => trackedFiles(ROOT).filter((file) => file.endsWith(end));
const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

function testedOfNpm(): Tested {
  const tested: Tested = new Map();
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, { version?: string }> };
  for (const [path, { version }] of Object.entries(packages)) {
    const name = path.replace(/^.*node_modules\//, "");
    if (OF_NPM.test(name) && version) note(tested, name, version);
  }
  for (const file of tracked("package.json")) {
    const { dependencies, devDependencies } = JSON.parse(read(file)) as Manifest;
    for (const [key, wanted] of Object.entries({ ...dependencies, ...devDependencies })) {
      // "npm:name@version" under another name
      const [, name = key, version = wanted] = /^npm:(.+)@(.+)$/.exec(wanted) ?? [];
      if (OF_NPM.test(name)) note(tested, name, version);
    }
  }
  return tested;
}

function testedOfPypi(): Tested {
  const tested: Tested = new Map();
  for (const file of tracked("requirements.txt")) {
    for (const [, name, version] of read(file).matchAll(/^([\w.-]+)(?:\[.*\])?==([\w.]+)/gm)) {
      if (OF_PYPI.test(name!)) note(tested, name!, version!);
    }
  }
  return tested;
}

const run = promisify(execFile);
const newestOfNpm = async (name: string): Promise<string> =>
  (await run("npm", ["view", name, "dist-tags.latest"], { timeout: 60_000 })).stdout.trim();
/** The first line is `name (version)`. */
const newestOfPypi = async (name: string): Promise<string | undefined> =>
  /\((.+)\)/.exec((await run("python3", ["-m", "pip", "index", "versions", name], { timeout: 60_000 })).stdout)?.[1];

const asked = [
  ...[...testedOfNpm()].map(([name, version]) => ({ name, version, newest: newestOfNpm })),
  ...[...testedOfPypi()].map(([name, version]) => ({
    name: `${name} (Python)`,
    version,
    newest: () => newestOfPypi(name),
  })),
];
let newer = 0;
let unknown = 0;
for (const { name, version, newest } of asked) {
  const published = await newest(name).catch(() => undefined);
  if (!published) unknown += 1;
  else if (isBelow(version, published)) {
    newer += 1;
    console.log(`${name}: ${published} is published, ${version} is tested`);
  }
}
console.log(
  `newest: ${asked.length} packages, ${newer} published in a newer version than is tested` +
    (unknown > 0 ? `, ${unknown} unknown, as their registry does not answer` : ""),
);
if (unknown === asked.length) process.exitCode = SKIPPED;
