import { onNpmEnd } from "./npm-parent.ts";
import { onLauncherEnd, notifyLauncher } from "./restarts.ts";

/** Window for duplicate signals: a terminal's Ctrl-C can arrive twice, from the terminal and from npm. */
const DUPLICATE_SIGNAL_MS = 500;

/** Calls `stop` at the first stop signal, exits at once at a second one. */
export function onStopSignal(stop: () => Promise<void>): void {
  let first = 0;
  const handle = (signal: string) => {
    if (first !== 0) {
      if (performance.now() - first > DUPLICATE_SIGNAL_MS) process.exit(130);
      return;
    }
    first = performance.now();
    notifyLauncher("stopping");
    console.error(signal === "SIGINT" ? "\nStopping. Press Ctrl-C again to exit immediately." : "Stopping.");
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, handle);

  onLauncherEnd(() => {
    if (first === 0) handle("the launcher ended");
  });
  onNpmEnd(() => {
    if (first === 0) handle("npm ended");
  });
}
