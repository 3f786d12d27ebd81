// LangGraph generates checkpoint ids in `@langchain/langgraph-checkpoint/dist/id.js`, from the machine's clock. The
// graph host replaces that module with one whose `uuid6` is the host's own (src/checkpoints/checkpoint-clock.ts). It is
// looked up on globalThis, because the module is evaluated before TypeScript can be loaded. Without a generator the
// original `uuid6` is used.

const ES_MODULE = /[\\/]@langchain[\\/]langgraph-checkpoint[\\/]dist[\\/]id\.js$/;
const COMMONJS = /[\\/]@langchain[\\/]langgraph-checkpoint[\\/]dist[\\/]id\.cjs$/;

/** Key on globalThis under which the generator is installed: `(clockseq: number) => string`. */
export const GENERATOR = Symbol.for("heddle.checkpoint-id");

/** True for the URL of the ES module that generates the ids, in any version and copy of the package. */
export const isIdModule = (url) => ES_MODULE.test(url);

/** True for the path or URL of its CommonJS form. */
export const isIdCommonJs = (path) => COMMONJS.test(path);

const installed = 'globalThis[Symbol.for("heddle.checkpoint-id")]';

/**
 * Returns the source of an ES module that replaces the one at `url`; its query string imports the original as a
 * separate module.
 */
export function replacementModule(url) {
  const original = JSON.stringify(`${url}?original`);
  return `import { uuid6 as original } from ${original};
export * from ${original};
export const uuid6 = (clockseq) => (${installed} ?? original)(clockseq);
`;
}

/** Replaces the `uuid6` that the CommonJS form exports with the generator. */
export function replaceExport(exports) {
  const original = exports.uuid6;
  exports.uuid6 = (clockseq) => (globalThis[GENERATOR] ?? original)(clockseq);
}
