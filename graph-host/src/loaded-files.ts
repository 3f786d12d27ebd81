import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";

/** The project's files that this process has loaded: the server replaces it when one of them changes. */
export class LoadedFiles {
  readonly #seen = new Set<string>();
  readonly #new: string[] = [];
  readonly #required = createRequire(import.meta.url).cache;

  /** @param port receives the URLs of loaded modules from resolve-hook.ts */
  constructor(port?: MessagePort) {
    port?.on("message", (url: string) => this.add([fileURLToPath(url.replace(/[?#].*$/s, ""))]));
    port?.unref();
  }

  add(files: readonly string[]): void {
    for (const file of files) {
      if (this.#seen.has(file)) continue;
      this.#seen.add(file);
      if (!/[\\/]node_modules[\\/]/.test(file)) this.#new.push(file);
    }
  }

  /** Returns the files that were loaded since the last call. */
  take(): string[] {
    // modules in CommonJS that others require pass no hook
    this.add(Object.keys(this.#required).map((file) => file.replace(/\?[^/\\]*$/, "")));
    return this.#new.splice(0);
  }
}
