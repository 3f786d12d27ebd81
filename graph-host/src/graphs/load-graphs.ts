import { access } from "node:fs/promises";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { complain } from "../complain.ts";
import type { GraphStatus } from "../../../host-kit/src/host-protocol.ts";
import { toGraph, type Graph } from "./graph.ts";
import { describeImportError } from "./import-error.ts";

export interface Project {
  dir: string;
  /** File from whose directory the project's packages are resolved. Default: langgraph.json. */
  from?: string;
  graphs: Record<string, { path: string; description?: string | null }>;
  /** Functions that the host calls before its first run. */
  lifespan?: string[];
}

/** Runtime that LangGraph's servers pass to a graph factory besides the config. */
export interface FactoryRuntime {
  accessContext: "assistants.read" | "threads.read" | "threads.update" | "threads.create_run";
  executionRuntime: { context: unknown } | null;
}

type Factory = (config: object, runtime: FactoryRuntime) => unknown;

export type LoadedGraph =
  | { status: GraphStatus & { ok: true }; open(config: object, runtime: FactoryRuntime): Promise<Graph> }
  | { status: GraphStatus & { ok: false } };

/** Time limit for loading a module, so that one that never finishes does not block the others. */
const LOAD_LIMIT_MS = 60_000;

/** Loads every graph of the project; a failure does not affect the others. */
export async function loadGraphs(project: Project): Promise<Map<string, LoadedGraph>> {
  const loaded = Object.entries(project.graphs).map(async ([id, { path, description = null }]) => {
    try {
      const { open, notes } = await withinLimit(loadGraph(project.dir, path));
      return [id, { status: { ok: true, description, ...(notes.length > 0 && { notes }) }, open }] as const;
    } catch (error) {
      const message = error instanceof GraphError ? error.message : describeImportError(error, project.dir);
      return [id, { status: { ok: false, description, error: message } }] as const;
    }
  });
  return new Map<string, LoadedGraph>(await Promise.all(loaded));
}

/** The developer's mistake, fully explained by its message. */
class GraphError extends Error {}

type Open = (config: object, runtime: FactoryRuntime) => Promise<Graph>;

async function loadGraph(dir: string, path: string): Promise<{ open: Open; notes: string[] }> {
  const { file, exportName } = splitPath(path);
  if (extname(file) === ".py") {
    throw new GraphError(
      `${path} is a Python graph. Heddle does not serve Python graphs yet; the project's other graphs are served.`,
    );
  }
  const source = resolve(dir, file);
  await access(source).catch(() => {
    throw new GraphError(`${path}: there is no file ${source}. Graph paths are relative to langgraph.json.`);
  });
  const module = (await import(pathToFileURL(source).href)) as Record<string, unknown>;
  const exported = await exportedValue(module, exportName, path);
  if (typeof exported === "function") return { open: fromFactory(exported as Factory, path), notes: [] };
  const graph = await toGraph(exported);
  if (!graph) throw new GraphError(`${path} is ${describe(exported)}, not a LangGraph graph. ${WHAT_A_GRAPH_IS}`);
  return { open: () => Promise.resolve(graph), notes: replacedParts(graph) };
}

/** Names what the project compiled its graph with and runs do not use (`bindGraph`). */
function replacedParts({ checkpointer, store }: Graph): string[] {
  const parts = Object.entries({ checkpointer, store }).filter(([, part]) => typeof part === "object" && part !== null);
  return parts.map(
    ([name, part]) =>
      `its own ${name} (${(part as object).constructor.name}) is not used, because the server provides one that keeps ` +
      "its data in Heddle's database.",
  );
}

const WHAT_A_GRAPH_IS = "Export a compiled graph, a StateGraph, a promise of one, or a function that returns one.";

function fromFactory(factory: Factory, path: string): Open {
  let isFirst = true;
  return async (config, runtime) => {
    const returned = await factory(config, runtime);
    const graph = await toGraph(returned);
    if (!graph)
      throw new GraphError(
        `The function ${path} returned ${describe(returned)}, not a LangGraph graph. ${WHAT_A_GRAPH_IS}`,
      );
    // known only now, and the same for each call
    if (isFirst) for (const note of replacedParts(graph)) complain(`Graph ${path}: ${note}`);
    isFirst = false;
    return graph;
  };
}

/** Splits `./file.ts:name`; without a name, the default export. A Windows drive letter is not a name. */
export function splitPath(path: string): { file: string; exportName: string } {
  const colon = path.lastIndexOf(":");
  if (colon <= 1) return { file: path, exportName: "default" };
  return { file: path.slice(0, colon), exportName: path.slice(colon + 1) || "default" };
}

async function exportedValue(module: Record<string, unknown>, name: string, path: string): Promise<unknown> {
  // All names of a CommonJS module may be on its default export.
  const inner = module.default as Record<string, unknown> | undefined;
  let value = module[name];
  if (value === undefined && typeof inner === "object" && inner !== null) value = inner[name];
  // ... and its default export is then one level deeper
  if (name === "default" && isCommonJsDefault(value)) value = (value as { default: unknown }).default;
  value = await value;
  if (value !== undefined && value !== null) return value;
  const names = Object.keys(module).filter((key) => key !== "__esModule" && key !== "module.exports");
  const exports = names.length === 0 ? "It exports nothing." : `It exports: ${names.join(", ")}.`;
  throw new GraphError(`${path}: the module has no export "${name}". ${exports}`);
}

function isCommonJsDefault(value: unknown): boolean {
  return typeof value === "object" && value !== null && "__esModule" in value && "default" in value;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  return `an object of class ${value.constructor?.name ?? "null"}`;
}

function withinLimit<T>(loading: Promise<T>): Promise<T> {
  return new Promise((resolvePromise, reject) => {
    const timer = setTimeout(() => {
      reject(
        new GraphError(
          `The module was still loading after ${LOAD_LIMIT_MS / 1000} s. Check whether it waits for something ` +
            "at the top level.",
        ),
      );
    }, LOAD_LIMIT_MS);
    loading.then(resolvePromise, reject).finally(() => clearTimeout(timer));
  });
}
