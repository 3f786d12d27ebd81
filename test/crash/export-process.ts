import { type ChildProcess, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = fileURLToPath(new URL("export-child.ts", import.meta.url));

/** One life of an exporting process (export-child.ts). */
export class ExportProcess {
  readonly exited: Promise<NodeJS.Signals | number | null>;
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;

  private constructor(env: Record<string, string>) {
    this.#child = spawn(process.execPath, ["--import", "tsx", script], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.exited = new Promise((resolve) => {
      this.#child.on("exit", (code, signal) => resolve(signal ?? code));
    });
    this.#lines = createInterface({ input: this.#child.stdout! });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  /** Resolves when it is ready or dead. */
  static async start(env: Record<string, string>): Promise<ExportProcess> {
    const process = new ExportProcess(env);
    await Promise.race([process.#answers.next(), process.exited]);
    return process;
  }

  /** Sends one request at a time; throws when it is rejected. */
  async request(method: string, path: string, body?: unknown): Promise<{ id: string }> {
    this.#child.stdin!.write(`${JSON.stringify([method, path, body])}\n`);
    const { value } = await this.#answers.next();
    if (value === undefined) throw new Error("the process is gone");
    const [status, text] = JSON.parse(value as string) as [number, string];
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text) as { id: string };
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.exited;
  }
}
