import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname } from "node:path";

import { ask } from "./confirm.ts";
import { launcherPath } from "./launcher.ts";

const require = createRequire(import.meta.url);

/**
 * Offers to install chDB, which stores traces, at the first start in a data directory: the package of Heddle does not
 * contain it, since it takes 550 MB. Asks nothing without a terminal, where chDB is there, or where CLICKHOUSE_URL names
 * another store. A refusal costs traces only.
 */
export async function offerChdb(dataDir: string): Promise<void> {
  const { stdin, stderr, env } = process;
  // a child of the launcher, which has asked
  if (process.send) return;
  if (!stdin.isTTY || !stderr.isTTY || env["CLICKHOUSE_URL"] || existsSync(dataDir) || isInstalled()) return;
  const command = installCommand(dirname(dirname(dirname(launcherPath()))));
  if (!command) return;
  const shown = ["npm", ...command.args].join(" ");
  if (!(await ask(`Traces are stored in chDB, which is not installed and takes 550 MB. Run "${shown}" now? [y/N] `))) {
    console.error(`Runs are not traced. To change that, run "${shown}" and start again.`);
    return;
  }
  const { status } = spawnSync("npm", command.args, { cwd: command.cwd, stdio: "inherit" });
  if (status !== 0) console.error(`heddle: "${shown}" failed, so runs are not traced.`);
}

function isInstalled(): boolean {
  try {
    require.resolve("chdb");
    return true;
  } catch {
    return false;
  }
}

/**
 * Finds the arguments of npm that install chDB beside a package, and the directory to run them in; undefined for a
 * directory that npm did not install as a package.
 */
export function installCommand(packageDir: string): { args: string[]; cwd: string } | undefined {
  const modules = dirname(packageDir);
  if (basename(modules) !== "node_modules") return undefined;
  const { peerDependencies } = JSON.parse(readFileSync(`${packageDir}/package.json`, "utf8")) as {
    peerDependencies: { chdb: string };
  };
  const cwd = dirname(modules);
  const chdb = `chdb@${peerDependencies.chdb}`;
  // npm's directory of global packages has no manifest
  const isGlobal = !existsSync(`${cwd}/package.json`);
  return { args: ["install", ...(isGlobal ? ["--global"] : []), chdb], cwd };
}
