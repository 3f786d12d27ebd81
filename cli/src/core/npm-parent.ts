import { readFileSync } from "node:fs";

import { exitByKill } from "./parent-end.ts";

const CHECK_MS = 250;

/**
 * Calls back when the npm that started this process is gone. npm runs a script through a shell that forwards no
 * signals: when ended by SIGTERM or killed, `npm start` and `npx heddle` would leave the server behind.
 */
export function onNpmEnd(callback: () => void): void {
  if (!process.env["npm_command"]) return;
  const atStart = npmAbove();
  const watch = setInterval(() => {
    if (npmAbove() === atStart) return;
    clearInterval(watch);
    exitByKill();
    callback();
  }, CHECK_MS);
  watch.unref();
}

/** Returns the parent's pid, and where that is npm's shell and the system reveals it, the pid of npm above it. */
function npmAbove(): string {
  const shell = process.ppid;
  try {
    const stat = readFileSync(`/proc/${shell}/stat`, "utf8");
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
    // A parent that is npm itself may outlive the terminal above it.
    if (!/^(?:ba|da|a|z|k)?sh$/.test(name)) return String(shell);
    return `${shell} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]}`;
  } catch {
    return String(shell);
  }
}
