import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../..", import.meta.url));

export interface ListenerProcessOptions {
  controlUrl: string;
  /** The listener's credential. */
  key: string;
  listenerId: string;
  kubeconfig: string;
  logFile: string;
}

/** `heddle listener` in a separate process. */
export class ListenerProcess {
  readonly #options: ListenerProcessOptions;
  #child: ChildProcess | undefined;

  constructor(options: ListenerProcessOptions) {
    this.#options = options;
  }

  start(): void {
    const { controlUrl, key, listenerId, kubeconfig, logFile } = this.#options;
    const log = openSync(logFile, "a");
    this.#child = spawn(process.execPath, ["cli/bin/heddle.js", "listener"], {
      cwd: repository,
      stdio: ["ignore", log, log],
      env: {
        ...process.env,
        HEDDLE_CONTROL_URL: controlUrl,
        HEDDLE_LISTENER_KEY: key,
        HEDDLE_LISTENER_ID: listenerId,
        HEDDLE_KUBECONFIG: kubeconfig,
        HEDDLE_LOG_LEVEL: "info",
      },
    });
    closeSync(log);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }

  /** Everything that it has logged. */
  get log(): string {
    return readFileSync(this.#options.logFile, "utf8");
  }
}
