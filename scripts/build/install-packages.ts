import { spawnSync } from "node:child_process";

/** Exit code that continuous integration counts as skipped. */
export const SKIPPED = 77;
const INSTALL_MS = 240_000;

/** Runs npm in a project. Ends the process with `SKIPPED` when the registry cannot be reached. */
export function installPackages(directory: string, packages: string[] = []): void {
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages];
  const run = (source: string) =>
    spawnSync("npm", [...args, source], { cwd: directory, encoding: "utf8", timeout: INSTALL_MS });
  const first = run("--prefer-offline");
  // the list of a package's versions in npm's cache may be older than a version that another package needs
  const { status, stderr } = first.stderr.includes("ETARGET") ? run("--prefer-online") : first;
  if (status === 0) return;
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) {
    console.log("skipped, because the npm registry cannot be reached");
    process.exit(SKIPPED);
  }
  throw new Error(`npm ${args.join(" ")} failed in ${directory}:\n${stderr}`);
}
