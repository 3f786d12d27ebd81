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

/**
 * Replaces the RunTrees that LangChain creates for runnables without a tracer. It creates one for each node, edge and
 * write, with some thirty calls of `Object.defineProperty`, a random id and two formatted times, only to keep the
 * runnable's config in the async context: a tenth of the CPU time of a trivial run. The replacement has the same fields,
 * which are computed when one of them is first used.
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
  const DeferredTree = deferredTree();
  Object.getPrototypeOf(provider).runWithConfig = function runWithConfig<T>(
    this: Provider,
    config: Config,
    callback: () => T,
    avoidCreatingRootRunTree?: boolean,
  ): T {
    if (avoidCreatingRootRunTree) return original.call(this, config, callback, avoidCreatingRootRunTree) as T;
    const manager = CallbackManager._configureSync(
      config?.callbacks,
      undefined,
      config?.tags,
      undefined,
      config?.metadata,
    );
    const isTraced =
      manager?.getParentRunId() !== undefined && manager.handlers.some(({ name }) => name === "langchain_tracer");
    if (isTraced) return original.call(this, config, callback, avoidCreatingRootRunTree) as T;
    const storage = this.getInstance();
    const previous = storage.getStore() as Fields | undefined;
    const tree = new DeferredTree(config) as unknown as Fields;
    if (previous?.[CONTEXT_VARIABLES] !== undefined) tree[CONTEXT_VARIABLES] = previous[CONTEXT_VARIABLES];
    return storage.run(tree, callback) as T;
  };
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
