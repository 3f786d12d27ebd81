/**
 * `npm run chaos`: re-executes itself in a separate mount namespace where that is allowed, so that disks can be filled.
 */
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { HELP, readArguments } from "./arguments.ts";
import { Fleet } from "./fleet.ts";
import { runChaos } from "./run-chaos.ts";

const NAMESPACE = "HEDDLE_CHAOS_NAMESPACE";

function inOwnNamespace(): Promise<number> {
  const unshare = [
    "--mount",
    "--propagation",
    "private",
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ];
  const child = spawn("unshare", unshare, { stdio: "inherit", env: { ...process.env, [NAMESPACE]: "1" } });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done) => child.once("exit", (code, signal) => done(code ?? (signal ? 130 : 1))));
}

const mayUnshare = (): boolean =>
  process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "--propagation", "private", "true"]).status === 0;

async function main(): Promise<number> {
  let options;
  try {
    options = readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (!options) {
    console.log(HELP);
    return 0;
  }
  if (process.env[NAMESPACE] === undefined && mayUnshare()) return inOwnNamespace();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
  const directory = Fleet.makeDirectory();
  try {
    const { text, violations } = await runChaos(options, directory, stop.signal, console.log);
    console.log(text);
    if (violations > 0 || options.keep) saveRecords(directory, options.seed);
    console.log(violations === 0 ? "No law was broken." : `${violations} violations; seed ${options.seed}.`);
    return violations === 0 ? 0 : 1;
  } finally {
    if (options.keep) console.log(`Kept: ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
}

/** Copies a run's records to files that outlive its directory. */
function saveRecords(directory: string, seed: number): void {
  const logs = readdirSync(directory).filter((file) => file.endsWith(".log"));
  for (const file of ["history.jsonl", "world.json", "report.txt", "ledger.jsonl", ...logs]) {
    const target = join(tmpdir(), `heddle-chaos-${seed}-${file}`);
    if (existsSync(join(directory, file))) copyFileSync(join(directory, file), target);
    console.log(`Written: ${target}`);
  }
}

// the official client's timers would keep the process alive for minutes
process.exit(
  await main().catch((error: unknown) => {
    console.error(error);
    return 2;
  }),
);
