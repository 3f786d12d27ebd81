/**
 * A project's own code in the agent server (its HTTP app, auth handlers, embedding function) can crash it. So for
 * projects with such code, the launcher starts the server as a child and restarts it when it dies; otherwise the
 * launcher is the server, so that one kill stops what one command started.
 *
 *     child -> parent   "ready" when it answers, "stopping" when it was asked to stop
 *
 * over Node's own channel, whose end shows the child that the launcher is gone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { launcherPath } from "./launcher.ts";
import { onNpmEnd } from "./npm-parent.ts";
import { onParentEnd } from "./parent-end.ts";
import { restartPause } from "./restart-pause.ts";

const IS_CHILD = "HEDDLE_RESTARTED_BY_LAUNCHER";

type LauncherMessage = "ready" | "stopping";

/** Whether this process is to start the server as a child. The server reports an invalid file. */
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

/** Runs the command as a child until it exits on request; never resolves, because this process exits with it. */
export async function runWithRestarts(command: string, args: string[]): Promise<void> {
  let child: ChildProcess | undefined;
  let isStopping = false;
  const stop = () => {
    isStopping = true;
    child?.kill("SIGTERM");
    if (!child) process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  onNpmEnd(stop);

  let hasServed = false;
  for (let pause = 0; ;) {
    const startedAt = performance.now();
    const received = new Set<LauncherMessage>();
    child = start(command, args);
    child.on("message", (message: LauncherMessage) => received.add(message));
    const { code, signal } = await ended(child);
    child = undefined;
    hasServed ||= received.has("ready");
    // a stop was requested, here or elsewhere; or it never started serving, and reported why
    if (isStopping || received.has("stopping") || !hasServed) process.exit(code ?? 1);
    pause = restartPause(pause, {
      uptimeMs: performance.now() - startedAt,
      hasAnswered: received.has("ready"),
      signal,
    });
    console.error(`heddle: The server exited (${signal ?? `exit code ${code}`}); restarting it.`);
    await sleep(pause);
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

/** Notifies the launcher from the child; no effect elsewhere. */
export function notifyLauncher(message: LauncherMessage): void {
  if (process.env[IS_CHILD] !== undefined) process.send?.(message);
}

/** Calls `stop` when the launcher has exited without notice. */
export function onLauncherEnd(stop: () => void): void {
  if (process.env[IS_CHILD] === undefined || !process.channel) return;
  onParentEnd(stop);
  process.channel.unref();
}
