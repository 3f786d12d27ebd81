import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { MESSAGES } from "../calls/channel-schema.ts";
import { type Project, splitPath } from "../graphs/load-graphs.ts";
import type { TypedSchemas, TypesOfGraph } from "./read-types.ts";

export type SchemasByNamespace = Record<string, TypedSchemas>;

/** Changes when the result for the same sources does. */
const FORMAT = 1;
/** Ends a reader that does not return. Its priority is low: on a busy machine it may take minutes. */
const LIMIT_MS = 300_000;
const LOW_PRIORITY = 15;
const ENTRY = fileURLToPath(
  new URL(`./extract-main.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
);

interface Kept extends TypesOfGraph {
  hash: string;
}

/**
 * Schemas from the types in the project's source. Read by one process at a time, on first request; kept in
 * `node_modules/.cache/heddle` under a hash of the files that they depend on.
 */
export class SourceSchemas {
  readonly #project: Project;
  readonly #langgraphVersion: string;
  #found = new Map<string, Promise<SchemasByNamespace>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(project: Project, langgraphVersion: string) {
    this.#project = project;
    this.#langgraphVersion = langgraphVersion;
  }

  /**
   * Returns the graph's schemas; none where they cannot be read, or not within `waitMs`. Reading goes on then, and a
   * later call gets the result.
   */
  async read(graphId: string, waitMs: number): Promise<SchemasByNamespace> {
    let reading = this.#found.get(graphId);
    if (!reading) {
      reading = this.#read(graphId).catch(() => ({}));
      this.#found.set(graphId, reading);
    }
    const stop = new AbortController();
    const late = sleep(waitMs, {}, { signal: stop.signal }).catch(() => ({}));
    return Promise.race([reading, late]).finally(() => stop.abort());
  }

  async #read(graphId: string): Promise<SchemasByNamespace> {
    const { dir, graphs } = this.#project;
    const { file, exportName } = splitPath(graphs[graphId]!.path);
    const source = resolve(dir, file);
    const modules = join(dir, "node_modules");
    const hasModules = await stat(modules).then(
      () => true,
      () => false,
    );
    const name = hashText(`${FORMAT} ${this.#langgraphVersion} ${source} ${exportName}`);
    const cacheFile = hasModules ? join(modules, ".cache", "heddle", "schemas", `${name}.json`) : undefined;
    const kept = cacheFile && (await this.#readKept(cacheFile));
    if (kept) return kept.schemas;
    const reading = this.#last.then(() => extract({ file: source, export: exportName, messages: MESSAGES }));
    this.#last = reading.catch(() => {});
    const found = await reading;
    if (cacheFile && found.files.length > 0) await this.#keep(cacheFile, found).catch(() => {});
    return found.schemas;
  }

  async #readKept(path: string): Promise<Kept | undefined> {
    try {
      const kept = JSON.parse(await readFile(path, "utf8")) as Kept;
      return (await hashFiles(kept.files)) === kept.hash ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  /** Best effort: the directory may be read-only. */
  async #keep(path: string, found: TypesOfGraph): Promise<void> {
    await mkdir(join(path, ".."), { recursive: true });
    const kept: Kept = { ...found, hash: await hashFiles(found.files) };
    const temporary = `${path}.${process.pid}`;
    await writeFile(temporary, JSON.stringify(kept));
    await rename(temporary, path);
  }
}

const hashText = (text: string): string => createHash("sha256").update(text).digest("hex");

async function hashFiles(files: string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex");
}

function extract(request: { file: string; export: string; messages: object }): Promise<TypesOfGraph> {
  // the host's own flags load TypeScript; the last size of the heap counts
  const args = [...process.execArgv, "--max-old-space-size=1024", ENTRY, JSON.stringify(request)];
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "ignore"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  // standard input stays open: its end tells the process that this one is gone
  child.stdin.on("error", () => {});
  return new Promise((resolvePromise, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolvePromise(JSON.parse(text) as TypesOfGraph);
      else reject(new Error(`the types of ${request.file} could not be read`));
    });
  });
}
