import { CallbackManager } from "@langchain/core/callbacks/manager";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { RunTree } from "langsmith";

type Config = Parameters<typeof AsyncLocalStorageProviderSingleton.runWithConfig>[0];
type Provider = typeof AsyncLocalStorageProviderSingleton;
type Fields = Record<PropertyKey, unknown>;

/** Keys under which LangChain keeps a runnable's config and context variables in the async context. */
const CHILD_CONFIG = Symbol.for("lc:child_config");
const CONTEXT_VARIABLES = Symbol.for("lc:context_variables");
const UNTRACED = { name: "<runnable_lambda>", tracingEnabled: false };
/** Variables that make LangChain trace. */
const SWITCHES = ["LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2", "LANGSMITH_TRACING", "LANGCHAIN_TRACING"];

/**
 * Replaces the RunTrees that LangChain creates for runnables without a tracer. It creates one for each node, edge and
 * write, with some thirty calls of `Object.defineProperty`, a random id and two formatted times, only to keep the
 * runnable's config in the async context: a tenth of the CPU time of a trivial run. The replacement has the same fields,
 * which are computed when one of them is first used.
 *
 * The library also configures a callback manager for each of them, only to find its tracer, which takes as long as
 * recording a traced run; here it is read from the config, where it can be.
 *
 * It patches the library's object in this process; a version that looks different is left unchanged.
 */
export function deferUntracedTrees(): void {
  const provider = AsyncLocalStorageProviderSingleton;
  const original = provider.runWithConfig;
  const isKnown =
    typeof original === "function" &&
    /new RunTree\(\{\s*name: "<runnable_lambda>",\s*tracingEnabled: false,?\s*\}\)/.test(original.toString()) &&
    typeof provider.getInstance === "function" &&
    typeof CallbackManager._configureSync === "function";
  if (!isKnown) return;
  const takesTreeOfTracer = /runTree = \w+\.getRunTreeWithTracingConfig\(\w+\)/.test(original.toString());
  const DeferredTree = deferredTree();
  Object.getPrototypeOf(provider).runWithConfig = function runWithConfig<T>(
    this: Provider,
    config: Config,
    callback: () => T,
    avoidCreatingRootRunTree?: boolean,
  ): T {
    const useOriginal = () => original.call(this, config, callback, avoidCreatingRootRunTree) as T;
    if (avoidCreatingRootRunTree) return useOriginal();
    const storage = this.getInstance();
    const previous = storage.getStore() as Fields | undefined;
    const found = findTree(config ?? {}, previous) ?? (isTraced(config ?? {}) ? undefined : UNTRACED);
    let tree: Fields;
    if (found === UNTRACED) tree = new DeferredTree(config) as unknown as Fields;
    else if (found && takesTreeOfTracer) {
      tree = found as unknown as Fields;
      tree["extra"] = { ...(tree["extra"] as Fields), [CHILD_CONFIG]: config };
    } else return useOriginal();
    if (previous?.[CONTEXT_VARIABLES] !== undefined) tree[CONTEXT_VARIABLES] = previous[CONTEXT_VARIABLES];
    return storage.run(tree, callback) as T;
  };
}

/**
 * Returns the tree of the run that a config belongs to, or `UNTRACED`, as the library's `_configureSync` would find it;
 * undefined where only that can tell.
 */
function findTree(config: Config, previous: Fields | undefined): RunTree | typeof UNTRACED | undefined {
  const callbacks = config.callbacks as CallbackManager | undefined;
  if (callbacks !== undefined && !(callbacks instanceof CallbackManager)) return undefined;
  const context = previous?.["tracingEnabled"];
  if (context === false) return UNTRACED;
  const tracers = callbacks?.handlers.filter(({ name }) => name === "langchain_tracer") ?? [];
  if (tracers.length > 1) return undefined;
  const parentId = callbacks?.getParentRunId();
  const [tracer] = tracers as { getRunTreeWithTracingConfig?(id: string): RunTree | undefined }[];
  if (tracer && parentId !== undefined) return tracer.getRunTreeWithTracingConfig?.(parentId);
  const isOn = context ?? SWITCHES.some((name) => process.env[name] === "true");
  return isOn ? undefined : UNTRACED;
}

function isTraced({ callbacks, tags, metadata }: Config): boolean {
  const manager = CallbackManager._configureSync(callbacks, undefined, tags, undefined, metadata);
  return manager?.getParentRunId() !== undefined && manager.handlers.some(({ name }) => name === "langchain_tracer");
}

/** Returns a class whose instances become complete RunTrees when a field other than those used by LangChain is used. */
function deferredTree() {
  class DeferredTree {
    extra: Fields;
    tracingEnabled: boolean;

    constructor(config: Config) {
      this.extra = { metadata: {}, [CHILD_CONFIG]: config };
      this.tracingEnabled = false;
    }
  }
  const prototype = DeferredTree.prototype as unknown as Fields;
  Object.setPrototypeOf(prototype, RunTree.prototype);
  for (const name of Object.keys(new RunTree(UNTRACED))) {
    if (name === "extra" || name === "tracingEnabled") continue;
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: Fields): unknown {
        complete(this);
        return this[name];
      },
      set(this: Fields, value: unknown) {
        complete(this);
        this[name] = value;
      },
    });
  }
  return DeferredTree;
}

function complete(tree: Fields): void {
  const { extra, tracingEnabled } = tree;
  const fields = Object.getOwnPropertyDescriptors(new RunTree(UNTRACED));
  Object.defineProperties(tree, fields as unknown as PropertyDescriptorMap);
  Object.assign(tree, { extra, tracingEnabled });
}
