// npm audit of the shipped dependencies: exit code 1 for a known vulnerability of high or critical severity, 77 when
// the registry does not support audits (many mirrors do not), which must not look like a clean result.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const SKIPPED = 77;
const root = fileURLToPath(new URL("../..", import.meta.url));
const args = ["audit", "--omit=dev", "--audit-level=high", "--json"];
const { status, stdout, stderr } = spawnSync("npm", args, {
  cwd: root,
  encoding: "utf8",
  shell: process.platform === "win32",
});

let report;
try {
  report = JSON.parse(stdout);
} catch {
  report = {};
}
const { vulnerabilities, metadata, error, message } = report;
if (metadata?.vulnerabilities === undefined) {
  const reason =
    error?.summary ||
    message ||
    stderr
      .trim()
      .split("\n")
      .find((line) => line.includes("audit")) ||
    "no answer";
  console.log(`audit: skipped, because the registry does not answer: ${reason}`);
  process.exit(SKIPPED);
}
for (const [name, { severity, range, isDirect }] of Object.entries(vulnerabilities)) {
  console.log(`audit: ${severity}: ${name} ${range}${isDirect ? "" : " (of a dependency)"}`);
}
console.log(`audit: ${metadata.dependencies?.prod ?? "?"} packages, ${JSON.stringify(metadata.vulnerabilities)}`);
process.exitCode = status === 0 ? 0 : 1;
