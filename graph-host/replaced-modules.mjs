// Functions of LangGraph that the graph host replaces, in every copy and in both module formats:
//
// - `uuid6`, which generates checkpoint ids from the machine's clock (src/checkpoints/checkpoint-clock.ts);
// - `call`, by which a node calls a task of the functional API (src/runs/journal-steps.ts).
//
// The replacement is looked up on globalThis at each call, because these modules are evaluated before TypeScript can be
// loaded. It gets the original function as its first argument. Without one, the original is called.

/** Keys on globalThis under which replacements are installed: `(original, ...args) => result`. */
export const CHECKPOINT_ID = Symbol.for("heddle.checkpoint-id");
export const TASK_CALL = Symbol.for("heddle.task-call");

const REPLACED = [
  { path: "langgraph-checkpoint/dist/id", name: "uuid6", key: CHECKPOINT_ID },
  { path: "langgraph/dist/pregel/call", name: "call", key: TASK_CALL },
];

const find = (path, extension) =>
  REPLACED.find((module) => path.replaceAll("\\", "/").endsWith(`@langchain/${module.path}${extension}`));

/** True for the URL of an ES module with a replaced function, in any version and copy of its package. */
export const isReplaced = (url) => find(url, ".js") !== undefined;

/**
 * Returns the source of an ES module that replaces the one at `url`; its query string imports the original as a
 * separate module.
 */
export function replacementModule(url) {
  const { name, key } = find(url, ".js");
  const original = JSON.stringify(`${url}?original`);
  return `import { ${name} as original } from ${original};
export * from ${original};
const key = Symbol.for(${JSON.stringify(Symbol.keyFor(key))});
export const ${name} = (...args) => (globalThis[key] ? globalThis[key](original, ...args) : original(...args));
`;
}

/** Replaces the function that a CommonJS module exports, if it is one of these. */
export function replaceExport(path, exports) {
  const replaced = find(path, ".cjs");
  if (!replaced) return;
  const { name, key } = replaced;
  const original = exports[name];
  exports[name] = (...args) => (globalThis[key] ? globalThis[key](original, ...args) : original(...args));
}
