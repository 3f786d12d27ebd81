/**
 * Checks that names in documents and container files exist: every HEDDLE_ variable is read by some code, and the image
 * installs the chDB version that the package requires.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { SETTINGS } from "./settings.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (file: string) => readFileSync(`${root}/${file}`, "utf8");
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);

const declared = new Set(SETTINGS.flatMap(([, , settings]) => settings.flatMap(({ env }) => env)));
/** Variables of commands, hosts, deployments and tests: they occur as words in the code that reads or forwards them. */
const inCode = new Set(git("grep", "-hoE", "HEDDLE_[A-Z0-9_]*[A-Z0-9]", "--", "*.ts", "*.mjs", "*.tsx", ".ci"));

const problems: string[] = [];
for (const file of git("ls-files", "*.md", "compose.yaml", "Dockerfile")) {
  if (file === "CHANGELOG.md") continue;
  for (const [name] of read(file).matchAll(/\bHEDDLE_[A-Z0-9_]*[A-Z0-9]\b/g)) {
    if (!declared.has(name) && !inCode.has(name)) problems.push(`${file} names ${name}, which no code reads.`);
  }
}
const { peerDependencies } = JSON.parse(read("package.json")) as { peerDependencies: Record<string, string> };
for (const file of ["Dockerfile", "compose.yaml", "docs/production.md"]) {
  const versions = [...read(file).matchAll(/CHDB[-=]chdb@([\d.]+)/g)].map((match) => match[1]);
  if (versions.length === 0 || versions.some((version) => version !== peerDependencies["chdb"]))
    problems.push(`${file} installs chdb ${versions.join(", ")}, not ${peerDependencies["chdb"]}.`);
}

if (problems.length > 0) {
  console.error([...new Set(problems)].join("\n"));
  process.exitCode = 1;
}
