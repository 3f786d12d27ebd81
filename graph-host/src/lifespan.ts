/** `heddle.hosts.lifespan` of langgraph.json: what each host opens before its first run, and closes after its last. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { complain } from "./complain.ts";
import { describeImportError } from "./graphs/import-error.ts";
import { splitPath } from "./graphs/load-graphs.ts";

/** Longest wait for the end of what the project's code closes; the server then ends the process. */
const STOP_MS = 3000;

type Close = () => unknown;

export class Lifespan {
  readonly #closes: Close[] = [];

  /**
   * Calls the functions one after another; each may return a function that closes what it has opened.
   * @throws an error for the developer; what was opened is closed
   */
  async start(dir: string, paths: string[]): Promise<void> {
    for (const path of paths) {
      try {
        const { file, exportName } = splitPath(path);
        const module = (await import(pathToFileURL(resolve(dir, file)).href)) as Record<string, unknown>;
        const open = module[exportName] ?? (module["default"] as Record<string, unknown> | undefined)?.[exportName];
        if (typeof open !== "function") throw new TypeError(`the module has no function "${exportName}"`);
        const close: unknown = await (open as () => unknown)();
        if (typeof close === "function") this.#closes.push(close as Close);
      } catch (error) {
        await this.stop();
        throw new Error(`heddle.hosts.lifespan: ${path}: ${describeImportError(error, dir)}`, { cause: error });
      }
    }
  }

  /** Closes what was opened, the last first. Does not throw, and takes 3 s at most. */
  async stop(): Promise<void> {
    const closing = (async () => {
      for (const close of this.#closes.splice(0).reverse()) {
        try {
          await close();
        } catch (error) {
          complain("heddle.hosts.lifespan: closing failed:", error);
        }
      }
    })();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((done) => (timer = setTimeout(done, STOP_MS)));
    await Promise.race([closing, late]);
    clearTimeout(timer);
  }
}
