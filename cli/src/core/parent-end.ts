/**
 * Makes the exit of this process a kill: of one that no other process would end, and whose exit code none reads. Node's
 * own exit waits for the threads of V8, one of which may be waiting for this one (nodejs/node#54918).
 */
export function exitByKill(): void {
  process.once("exit", () => process.kill(process.pid, "SIGKILL"));
}

/** Calls `stop` when the process at the other end of Node's channel is gone. */
export function onParentEnd(stop: () => void): void {
  process.once("disconnect", () => {
    exitByKill();
    stop();
  });
}
