import { CallbackManager } from "@langchain/core/callbacks/manager";

const installed = new WeakSet<object>();

/**
 * Makes copies of LangChain's callback managers cheap. A traced run copies one for each step of a graph, and the
 * original copies metadata by adding each key to a new object with all previous ones: for the fifteen keys of LangGraph
 * this takes more time than the recording of the run. The rest of the copy remains the library's.
 */
export function copyManagersCheaply(): void {
  const { prototype } = CallbackManager;
  if (installed.has(prototype)) return;
  installed.add(prototype);
  const copyWithMetadata = Reflect.get(prototype, "copy") as CallbackManager["copy"];
  prototype.copy = function copy(this: CallbackManager, ...values: Parameters<CallbackManager["copy"]>) {
    const { metadata, inheritableMetadata } = this as unknown as Metadata;
    Object.assign(this, { metadata: {}, inheritableMetadata: {} });
    let copied: CallbackManager;
    try {
      copied = copyWithMetadata.apply(this, values);
    } finally {
      Object.assign(this, { metadata, inheritableMetadata });
    }
    const inherited: Record<string, unknown> = {};
    for (const key of Object.keys(metadata)) {
      if (Object.hasOwn(inheritableMetadata, key)) inherited[key] = metadata[key];
    }
    return Object.assign(copied, { metadata: { ...metadata }, inheritableMetadata: inherited });
  };
}

interface Metadata {
  metadata: Record<string, unknown>;
  inheritableMetadata: Record<string, unknown>;
}
