import type { MessagePort } from "node:worker_threads";

import { isReplaced, replacementModule } from "../replaced-modules.mjs";

/**
 * Module resolution and loading of the graph host, run by Node in its loader thread.
 *
 * LangGraph must exist once in the process: a message class, a symbol or an AsyncLocalStorage of a second copy is
 * unknown to the first. So the host's own imports of LangChain are resolved as if the user's project had made them.
 * Everything else is resolved as usual.
 *
 * Two modules of LangGraph are replaced in each copy, see replaced-modules.mjs.
 */
interface ModuleRoots {
  /** URL prefix of the files that belong to the graph host. */
  hostRoot: string;
  /** URL of a (not necessarily existing) file in the project's directory. */
  project: string;
  /** Receives the URL of each module that is not a package's. */
  loaded: MessagePort;
}

interface ResolveContext {
  parentURL?: string | undefined;
}
type Resolved = { url: string };
type Loaded = { format: string; source?: string | ArrayBuffer | Uint8Array | null | undefined; shortCircuit?: boolean };
type NextLoad = (url: string, context: object) => Promise<Loaded>;
type NextResolve = (specifier: string, context: ResolveContext) => Promise<Resolved>;

let roots: ModuleRoots;

export function initialize(data: ModuleRoots): void {
  roots = data;
}

export async function resolve(specifier: string, context: ResolveContext, next: NextResolve): Promise<Resolved> {
  const isHostCode = context.parentURL?.startsWith(roots.hostRoot);
  if (
    !isHostCode ||
    !(specifier.startsWith("@langchain/") || specifier === "langsmith" || specifier.startsWith("langsmith/"))
  ) {
    return next(specifier, context);
  }
  const fromProject = { ...context, parentURL: roots.project };
  // The saver's base class must come from LangGraph's own copy, and few projects list that package themselves.
  if (specifier === "@langchain/langgraph-checkpoint") {
    const langgraph = await next("@langchain/langgraph", fromProject);
    return next(specifier, { ...context, parentURL: langgraph.url });
  }
  // LangChain's tracer needs the client version that it was made for, and few projects list that package themselves.
  if (specifier === "langsmith" || specifier.startsWith("langsmith/")) {
    const core = await next("@langchain/core/tracers/tracer_langchain", fromProject);
    return next(specifier, { ...context, parentURL: core.url });
  }
  return next(specifier, fromProject);
}

export async function load(url: string, context: object, next: NextLoad): Promise<Loaded> {
  if (isReplaced(url)) return { format: "module", source: replacementModule(url), shortCircuit: true };
  if (url.startsWith("file:") && !url.includes("/node_modules/") && !url.startsWith(roots.hostRoot)) {
    roots.loaded.postMessage(url);
  }
  return next(url, context);
}
