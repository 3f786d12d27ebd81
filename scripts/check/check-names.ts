/**
 * Checks that names in documents and container files exist: every HEDDLE_ variable is read by some code, the files and
 * symbols that the architecture documents name exist, and the image installs the chDB version that the package requires.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { SETTINGS } from "../build/settings.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (file: string) => readFileSync(`${root}/${file}`, "utf8");
const git = (...args: string[]) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 30 })
    .split("\n")
    .filter(Boolean);

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

const SOURCES = ["ts", "tsx", "mts", "mjs", "cjs", "py", "sql", "json", "yaml"];
const tracked = git("ls-files");
/** Lists the tracked files that a document means: by the end of their path, which may contain wildcards. */
function filesNamed(name: string): string[] {
  const pattern = name
    .replaceAll(/[.+?^$()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(",", "|")})`);
  const ending = new RegExp(`(^|/)${pattern}$`);
  return tracked.filter((path) => ending.test(path));
}
/** A file in code style, alone or with symbols of it: `run-queue.ts: accept, #dispatch`. */
const REFERENCE = /`((?:[\w@.*{},-]+\/)*[\w@.*{},-]+\.(?:ts|tsx|mts|mjs|cjs|js|py|sql))(?:: ([^`]+))?`/g;
/** Names in code style without a file, such as `RunQueue`, `#dispatch` and `finish_run()`. */
const SYMBOL = /`#?(?:[A-Za-z_$][\w$]*[.#])*([A-Za-z_$][\w$]*)(?:\(\))?`/g;
const words = new Set(git("grep", "-hoE", "[A-Za-z_$][A-Za-z0-9_$]*", "--", ...SOURCES.map((kind) => `*.${kind}`)));
for (const document of git("ls-files", "ARCHITECTURE.md", "docs/architecture/*.md")) {
  for (const [, name] of read(document).matchAll(SYMBOL))
    if (!words.has(name!)) problems.push(`${document} names ${name}, which no code contains.`);
  for (const [, name, symbols] of read(document).matchAll(REFERENCE)) {
    const files = filesNamed(name!);
    if (files.length === 0) problems.push(`${document} names ${name}, which does not exist.`);
    else if (symbols !== undefined) {
      const texts = files.map(read);
      for (const symbol of symbols.split(/[\s,]+/).map((word) => word.replace(/\(.*$/, ""))) {
        const word = new RegExp(`(?<![\\w$#])${symbol.replaceAll(/[.$]/g, "\\$&")}(?![\\w$])`);
        if (!texts.some((text) => word.test(text)))
          problems.push(`${document} names ${name}: ${symbol}, which does not exist.`);
      }
    }
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
