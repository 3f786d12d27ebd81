/**
 * Opens the data of each earlier release with this version, and replaces its servers by this version's under load:
 *
 *     node --import tsx scripts/versions/upgrades.ts [--from 0.6.0] [--only data,deployments,rolling]
 *
 * The data is made by the release's own code. Needs git's history and the registry, for the release's packages. Exits
 * with 1 when something is lost or answered differently.
 */
import { mkdtempSync, chmodSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { checkOutRelease, RELEASES } from "./releases.ts";
import { upgradeData } from "./upgrades/data.ts";
import { upgradeDeployments } from "./upgrades/deployments.ts";
import { rollOver } from "./upgrades/rolling.ts";

const PARTS = { data: upgradeData, deployments: upgradeDeployments, rolling: rollOver };

const { values: options } = parseArgs({ options: { from: { type: "string" }, only: { type: "string" } } });
const only = options.only?.split(",") ?? Object.keys(PARTS);
const releases = RELEASES.filter(
  ({ version }) => options.from === undefined || options.from.split(",").includes(version),
);
if (releases.length === 0) throw new Error(`--from: choose of ${RELEASES.map(({ version }) => version).join(", ")}`);
const current = fileURLToPath(new URL("../..", import.meta.url));

let failures = 0;
for (const release of releases) {
  const earlier = checkOutRelease(release);
  for (const [name, part] of Object.entries(PARTS)) {
    if (!only.includes(name)) continue;
    const directory = mkdtempSync(join(tmpdir(), "heddle-upgrade-"));
    // Postgres does not run as root, and its user must be able to reach the data
    chmodSync(directory, 0o755);
    const label = `${release.version}, ${name}`;
    try {
      const wrong = await part({ earlier, current, directory });
      failures += wrong.length;
      console.log(`${label}: ${wrong.length === 0 ? "ok" : `${wrong.length} problems`}`);
      for (const problem of wrong.slice(0, 20)) console.log(`  ${problem}`);
    } catch (error) {
      failures += 1;
      console.log(`${label}: ${(error as Error).stack}`);
    }
    if (failures === 0) rmSync(directory, { recursive: true, force: true });
    else console.log(`  kept for a look: ${directory}`);
  }
}
process.exit(failures === 0 ? 0 : 1);
