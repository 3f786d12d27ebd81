import { setTimeout as sleep } from "node:timers/promises";

import { ConfigError } from "../../base/config/options.ts";
import { unavailable } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { OwnCodeApi } from "../project/own-code-api.ts";
import { hostEnvironment } from "../hosts/host-environment.ts";
import { languageOf } from "../../base/graph-language.ts";
import { packageEnvironment, projectInterpreter, pythonApp } from "../project/python-package.ts";
import type { Project } from "../project/read-project.ts";
import { CodeProcess, type CodeLaunch, type CodeReady } from "./code-process.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** Longest delay of the server's stop by the app's shutdown. */
const STOP_MS = 3000;

interface Loaded {
  process: CodeProcess;
  launch: CodeLaunch;
  ready: CodeReady;
}

/**
 * A project's own Python code outside graphs: its ASGI app, its auth handlers, its embedding function and its encryption. It runs in a
 * its own process with the project's interpreter, which is restarted when it ends.
 */
export class PythonCode {
  readonly #log: Log;
  readonly #configured: string | undefined;
  readonly #port: number;
  readonly #ownCodeApi: Pick<OwnCodeApi, "describe">;
  #loaded: Loaded | undefined;
  readonly #retired = new Set<CodeProcess>();
  #stopping = false;

  /** @param options `configured`: interpreter that HEDDLE_PYTHON names; `port`: that of this server */
  constructor(options: {
    log: Log;
    configured: string | undefined;
    port: number;
    ownCodeApi: Pick<OwnCodeApi, "describe">;
  }) {
    this.#log = options.log;
    this.#configured = options.configured;
    this.#port = options.port;
    this.#ownCodeApi = options.ownCodeApi;
  }

  /**
   * Loads the project's code in a new process. Requests move to it once it is loaded; the earlier one finishes its own.
   * @throws ConfigError when a part cannot be loaded; nothing has changed then
   */
  async load(project: Project): Promise<void> {
    const parts = pythonParts(project);
    const old = this.#loaded;
    if (parts === null) {
      this.#loaded = undefined;
    } else {
      const launch = await this.#prepare(project, parts);
      this.#loaded = await this.#start(launch).catch((error: Error) => {
        throw new ConfigError(error.message);
      });
    }
    if (old) this.#retire(old.process);
  }

  /** What the code offers; null where the project has none in Python. */
  get ready(): CodeReady | null {
    return this.#loaded?.ready ?? null;
  }

  /** The process for a request. @throws 503 while it is being restarted */
  get process(): CodeProcess {
    const process = this.#loaded?.process;
    if (!process || process.dead) throw unavailable("The project's Python code is being restarted.", 1);
    return process;
  }

  /** Computes vectors with the project's embedding function. */
  async embed(texts: string[], query: boolean): Promise<number[][]> {
    const text = await this.process.call((id) => ({ t: "embed", id, query }), JSON.stringify(texts));
    return JSON.parse(text.toString()) as number[][];
  }

  /** Encrypts or decrypts a data key with the project's own encryption. */
  async convertKey(operation: "encrypt" | "decrypt", data: Buffer): Promise<{ key: Buffer; replacement?: Buffer }> {
    const text = await this.process.call((id) => ({ t: "key.convert", id, operation }), data);
    const { key, replacement } = JSON.parse(text.toString()) as { key: string; replacement: string | null };
    return {
      key: Buffer.from(key, "base64"),
      ...(replacement !== null && { replacement: Buffer.from(replacement, "base64") }),
    };
  }

  /** Returns the project's files that the process has loaded. */
  async files(): Promise<string[]> {
    if (!this.#loaded) return [];
    const text = await this.process.call((id) => ({ t: "files", id }), "");
    return JSON.parse(text.toString()) as string[];
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const processes = [...this.#retired, ...(this.#loaded ? [this.#loaded.process] : [])];
    for (const process of processes) process.drain();
    await Promise.race([Promise.all(processes.map((process) => process.ended)), sleep(STOP_MS)]);
    for (const process of processes) process.kill();
    await Promise.all(processes.map((process) => process.ended));
  }

  async #prepare(project: Project, parts: PythonParts): Promise<CodeLaunch> {
    const found = await projectInterpreter(project, this.#configured);
    if ("problem" in found) throw new ConfigError(`${keysOf(parts).join(", ")}: ${found.problem}`);
    const { dir, env, config } = project;
    return {
      command: found.interpreter.executable,
      cwd: dir,
      env: {
        ...hostEnvironment(env, process.env),
        ...packageEnvironment({ ...env, ...process.env }),
        PORT: String(this.#port),
        HEDDLE_CODE_OWN_API: this.#ownCodeApi.describe(project),
        HEDDLE_CODE_PROJECT: JSON.stringify({ dir, dependencies: config.dependencies ?? [], ...parts }),
      },
    };
  }

  async #start(launch: CodeLaunch): Promise<Loaded> {
    const process = new CodeProcess(launch);
    try {
      const loaded = { process, launch, ready: await process.load() };
      void process.ended.then(() => this.#restart(loaded));
      return loaded;
    } catch (error) {
      process.kill();
      await process.ended;
      throw error;
    }
  }

  async #restart(ended: Loaded): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !this.#stopping && this.#loaded === ended;) {
      this.#log.warn("The process of the project's Python code ended; it is started again.");
      await sleep(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      try {
        const loaded = await this.#start(ended.launch);
        if (this.#stopping || this.#loaded !== ended) return this.#retire(loaded.process);
        this.#loaded = loaded;
      } catch (error) {
        this.#log.error({ err: error }, "the project's Python code could not be started again");
      }
    }
  }

  #retire(process: CodeProcess): void {
    this.#retired.add(process);
    process.drain();
    void process.ended.then(() => this.#retired.delete(process));
  }
}

/** Paths of the project's Python code, by what it is used for. */
interface PythonParts {
  auth?: string;
  app?: string;
  embed?: string;
  encryption?: string;
}

/** Keys of langgraph.json that name the parts. */
const keysOf = ({ auth, app, embed, encryption }: PythonParts): string[] => [
  ...(auth === undefined ? [] : ["auth.path"]),
  ...(app === undefined ? [] : ["http.app"]),
  ...(embed === undefined ? [] : ["store.index.embed"]),
  ...(encryption === undefined ? [] : ["encryption.path"]),
];

function pythonParts({ config, graphs }: Pick<Project, "config" | "graphs">): PythonParts | null {
  const parts: PythonParts = {};
  const { auth, store, encryption } = config;
  if (auth?.path !== undefined && languageOf(auth.path) === "python") parts.auth = auth.path;
  if (encryption && languageOf(encryption.path) === "python") parts.encryption = encryption.path;
  const app = pythonApp({ config });
  if (app !== undefined) parts.app = app;
  const embed = store?.index?.embed;
  if (embed !== undefined && isPythonEmbedder(embed, graphs)) parts.embed = embed;
  return Object.keys(parts).length > 0 ? parts : null;
}

/** A provider's model (`openai:…`) is used from Python where all graphs are Python. */
export function isPythonEmbedder(embed: string, graphs: Project["graphs"]): boolean {
  if (/\.py(:|$)|^[\w]+(\.\w+)+:/.test(embed)) return languageOf(embed) === "python";
  const isProvider = /^[a-z_-]{2,}:(?![\\/])/.test(embed) && !/^[^:]*[./\\]/.test(embed);
  const languages = Object.values(graphs).map(({ path }) => languageOf(path));
  return isProvider && languages.length > 0 && languages.every((language) => language === "python");
}
