/**
 * A project's own code that runs in the agent server, its HTTP app, its auth handlers, its embedding function, can
 * bring it down. So where a project has some, the launcher starts the server as a child and starts it again when it
 * dies; elsewhere the launcher is the server, so that one kill reaches what one command started.
 *
 *     child -> parent   "ready" when it answers, "stopping" when it was asked to end
 *
 * over Node's own channel, whose end tells the child that the launcher is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { launcherPath } from "./launcher.ts";
import { onNpmEnd } from "./npm-parent.ts";

const IS_CHILD = "HEDDLE_RESTARTED_BY_LAUNCHER";
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** One that lived for so long has not died of its start. */
const STEADY_MS = 60_000;

type Told = "ready" | "stopping";

/** Whether this process is to start the server as a child. What is wrong with the file, the server says. */
export function needsRestarts(config: string): boolean {
  if (process.env[IS_CHILD] !== undefined) return false;
  try {
    const { http, auth, store } = JSON.parse(readFileSync(config, "utf8")) as {
      http?: { app?: unknown } | null;
      auth?: { path?: unknown } | null;
      store?: { index?: { embed?: unknown } | null } | null;
    };
    return [http?.app, auth?.path, store?.index?.embed].some((code) => code !== undefined && code !== null);
  } catch {
    return false;
  }
}

/** Runs the command as a child until it ends as it was asked to; resolves never, this process ends with it. */
export async function runWithRestarts(command: string, args: string[]): Promise<void> {
  let child: ChildProcess | undefined;
  let asked = false;
  const stop = () => {
    asked = true;
    child?.kill("SIGTERM");
    if (!child) process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  onNpmEnd(stop);

  let hasServed = false;
  for (let pause = FIRST_PAUSE_MS; ;) {
    const began = performance.now();
    const told = new Set<Told>();
    child = start(command, args);
    child.on("message", (message: Told) => told.add(message));
    const { code, signal } = await ended(child);
    child = undefined;
    hasServed ||= told.has("ready");
    // asked to end, by us or by somebody else; or it never got as far as serving, and said why
    if (asked || told.has("stopping") || !hasServed) process.exit(code ?? 1);
    if (performance.now() - began > STEADY_MS) pause = FIRST_PAUSE_MS;
    console.error(`heddle: The server ended (${signal ?? `exit code ${code}`}); it is started again.`);
    await sleep(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

function start(command: string, args: string[]): ChildProcess {
  const env = { ...process.env, [IS_CHILD]: "1" };
  const stdio = ["inherit", "inherit", "inherit", "ipc"] as const;
  return spawn(process.execPath, [...process.execArgv, launcherPath(), command, ...args], { env, stdio: [...stdio] });
}

function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => {
    child.once("error", () => resolve({ code: 1, signal: null }));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

/** In the child; elsewhere nothing. */
export function tellLauncher(what: Told): void {
  if (process.env[IS_CHILD] !== undefined) process.send?.(what);
}

/** Calls `stop` when the launcher is gone without having said so. */
export function onLauncherEnd(stop: () => void): void {
  if (process.env[IS_CHILD] === undefined || !process.channel) return;
  process.once("disconnect", stop);
  process.channel.unref();
}
