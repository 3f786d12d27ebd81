import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { MESSAGES } from "../calls/channel-schema.ts";
import { type Project, splitPath } from "../graphs/load-graphs.ts";
import type { TypedSchemas, TypesOfGraph } from "./read-types.ts";

export type SchemasByNamespace = Record<string, TypedSchemas>;

/** Changes when the result for the same sources does. */
const FORMAT = 2;
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
 * Schemas from the types in the project's source. The first request starts a process that reads those of all graphs, the
 * requested one first: nearly all the time goes into the libraries that they share. Kept in `.cache/heddle` of the nearest
 * `node_modules`, beside the project or above it, under a hash of the files that they depend on.
 */
export class SourceSchemas {
  readonly #project: Project;
  readonly #langgraphVersion: string;
  #found = new Map<string, Promise<SchemasByNamespace>>();
  #all: Promise<Map<string, Promise<TypesOfGraph>>> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  readonly #onRead: (files: string[]) => void;

  /** @param onRead called with the files that the returned schemas depend on */
  constructor(project: Project, langgraphVersion: string, onRead: (files: string[]) => void = () => {}) {
    this.#onRead = onRead;
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
    const { files, schemas } = (await this.#readKept(graphId)) ?? (await this.#readNow(graphId));
    this.#onRead(files);
    return schemas;
  }

  async #readNow(graphId: string): Promise<TypesOfGraph> {
    this.#all ??= this.#extractAll(graphId);
    const reading = (await this.#all).get(graphId);
    return reading ?? this.#extractAlone(graphId);
  }

  /** Starts to read the types of the graph, and of all others whose types are not kept. */
  async #extractAll(first: string): Promise<Map<string, Promise<TypesOfGraph>>> {
    const missing = [first];
    for (const id of Object.keys(this.#project.graphs)) {
      if (id !== first && !(await this.#readKept(id))) missing.push(id);
    }
    const found = extract(missing.map((id) => this.#locate(id)));
    return new Map(
      missing.map((id, index) => {
        // one graph whose types cannot be read must not cost the others theirs
        const reading = found[index]!.catch(() => this.#extractAlone(id)).then(async (types) => {
          await this.#keep(id, types).catch(() => {});
          return types;
        });
        // it may be that nothing asks for this one
        reading.catch(() => {});
        return [id, reading];
      }),
    );
  }

  /** Reads the types of one graph in a separate process, after those that wait for theirs. */
  #extractAlone(graphId: string): Promise<TypesOfGraph> {
    const reading = this.#last.then(() => extract([this.#locate(graphId)])[0]!);
    this.#last = reading.catch(() => {});
    return reading;
  }

  #locate(graphId: string): { file: string; export: string } {
    const { dir, graphs } = this.#project;
    const { file, exportName } = splitPath(graphs[graphId]!.path);
    return { file: resolve(dir, file), export: exportName };
  }

  /** Returns undefined for a project without node_modules. */
  async #cacheFile(graphId: string): Promise<string | undefined> {
    const { file, export: exportName } = this.#locate(graphId);
    const name = hashText(`${FORMAT} ${this.#langgraphVersion} ${file} ${exportName}`);
    for (let dir = resolve(this.#project.dir); ; dir = dirname(dir)) {
      const modules = join(dir, "node_modules");
      const isThere = await stat(modules).then(
        () => true,
        () => false,
      );
      if (isThere) return join(modules, ".cache", "heddle", "schemas", `${name}.json`);
      if (dir === dirname(dir)) return undefined;
    }
  }

  async #readKept(graphId: string): Promise<Kept | undefined> {
    const path = await this.#cacheFile(graphId);
    if (path === undefined) return undefined;
    try {
      const kept = JSON.parse(await readFile(path, "utf8")) as Kept;
      return (await hashFiles(kept.files)) === kept.hash ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  /** Best effort: the directory may be read-only. */
  async #keep(graphId: string, found: TypesOfGraph): Promise<void> {
    const path = await this.#cacheFile(graphId);
    if (path === undefined || found.files.length === 0) return;
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

/** Starts a process that reads the types of the graphs, one after another. Returns each graph's. */
function extract(graphs: { file: string; export: string }[]): Promise<TypesOfGraph>[] {
  const request = JSON.stringify({ graphs, messages: MESSAGES });
  // the host's own flags load TypeScript; the last size of the heap counts
  const args = [...process.execArgv, "--max-old-space-size=1024", ENTRY, request];
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "ignore"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
  // standard input stays open: its end tells the process that this one is gone
  child.stdin.on("error", () => {});
  const waiting: { resolve: (types: TypesOfGraph) => void; reject: (error: Error) => void }[] = [];
  const readings = graphs.map(
    () => new Promise<TypesOfGraph>((resolvePromise, reject) => waiting.push({ resolve: resolvePromise, reject })),
  );
  let next = 0;
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => waiting[next++]?.resolve(JSON.parse(line) as TypesOfGraph));
  // closes after the last line
  const fail = () => {
    for (const [index, { reject }] of waiting.entries()) {
      reject(new Error(`the types of ${graphs[index]!.file} could not be read`));
    }
  };
  child.once("error", fail);
  lines.once("close", fail);
  return readings;
}
