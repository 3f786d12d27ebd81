// Writes the software bill of materials of the published package in CycloneDX JSON: the production dependencies in the
// lock file, of all platforms. The image of Dockerfile contains that of its own at /opt/heddle/sbom.cdx.json.
//
//     node scripts/build/sbom.mjs FILE.json
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const file = process.argv[2];
if (file === undefined) {
  console.error("usage: node scripts/build/sbom.mjs FILE.json");
  process.exit(2);
}
const parent = mkdtempSync(join(tmpdir(), "heddle-sbom-"));
try {
  // npm names the document after the directory
  const directory = join(parent, "heddle");
  mkdirSync(directory);
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) cpSync(join(root, name), join(directory, name));
  const npm = (...args) =>
    execFileSync("npm", args, {
      cwd: directory,
      encoding: "utf8",
      maxBuffer: 1 << 26,
      stdio: ["ignore", "pipe", "inherit"],
    });
  npm("pkg", "delete", "devDependencies", "workspaces", "scripts");
  // removes from the lock file what only those needed
  npm("install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline");
  writeFileSync(file, npm("sbom", "--sbom-format", "cyclonedx", "--package-lock-only"));
} finally {
  rmSync(parent, { recursive: true, force: true });
}
