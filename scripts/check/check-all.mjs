// npm run check: runs every static check, even after one fails, and prints a line for each. With names, only those.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tool = (path, ...args) => [process.execPath, [`node_modules/${path}`, ...args]];
const folders = [
  "server",
  "host-kit",
  "graph-host",
  "console",
  "cli",
  "examples",
  "conformance",
  "bench",
  "scripts",
  "test",
];
const checks = {
  // first: lint, types and imports of the console need the types that it generates
  "console-api": [process.execPath, ["--import", "tsx", "scripts/build/console-api.ts"]],
  format: tool("oxfmt/bin/oxfmt", "--check"),
  lint: tool("oxlint/bin/oxlint", "--type-aware"),
  types: tool("typescript-native/bin/tsc", "-p", "tsconfig.json"),
  "types-console": tool("typescript-native/bin/tsc", "-p", "console/tsconfig.json"),
  imports: tool(
    "dependency-cruiser/bin/dependency-cruise.mjs",
    "--config",
    ".dependency-cruiser.cjs",
    ...folders.filter((folder) => existsSync(`${root}/${folder}`)),
  ),
  dependencies: [process.execPath, ["scripts/check/check-dependencies.mjs"]],
  settings: [process.execPath, ["--import", "tsx", "scripts/build/settings-page.ts"]],
  "host-frames": [process.execPath, ["--import", "tsx", "scripts/build/python-protocol.ts"]],
  "host-masking": [process.execPath, ["--import", "tsx", "scripts/build/python-masking.ts"]],
  documents: [process.execPath, ["scripts/build/docs-site.mjs"]],
  names: [process.execPath, ["--import", "tsx", "scripts/check/check-names.ts"]],
  schema: [process.execPath, ["--import", "tsx", "scripts/check/check-schema.ts"]],
};

/** Runs one check; its output is shown only on failure. */
function run(name) {
  const [command, args] = checks[name];
  const started = Date.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    child.stdout.on("data", (chunk) => output.push(chunk));
    child.stderr.on("data", (chunk) => output.push(chunk));
    child.on("error", (error) => output.push(Buffer.from(String(error))));
    child.on("close", (code) => {
      const seconds = ((Date.now() - started) / 1000).toFixed(1);
      console.log(`${code === 0 ? "ok    " : "FAILED"} ${name.padEnd(13)} ${seconds} s`);
      if (code !== 0) console.log(Buffer.concat(output).toString().trimEnd());
      resolve(code === 0);
    });
  });
}

const requestedNames = process.argv.slice(2);
const unknown = requestedNames.filter((name) => !checks[name]);
if (unknown.length > 0) {
  console.error(`unknown check: ${unknown.join(", ")}. There are: ${Object.keys(checks).join(", ")}`);
  process.exit(2);
}
let good = true;
const names = requestedNames.length > 0 ? new Set(["console-api", ...requestedNames]) : Object.keys(checks);
for (const name of names) good = (await run(name)) && good;
process.exitCode = good ? 0 : 1;
