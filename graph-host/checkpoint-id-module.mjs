// LangGraph makes the ids of checkpoints in `@langchain/langgraph-checkpoint/dist/id.js`, from the machine's clock. The
// graph host serves that module with a `uuid6` of its own (src/checkpoints/checkpoint-clock.ts), which it finds on
// globalThis, because the module is evaluated before TypeScript can be loaded. Without a generator it stays as it is.

const ES_MODULE = /[\\/]@langchain[\\/]langgraph-checkpoint[\\/]dist[\\/]id\.js$/;
const COMMONJS = /[\\/]@langchain[\\/]langgraph-checkpoint[\\/]dist[\\/]id\.cjs$/;

/** The key under which the generator is installed: `(clockseq: number) => string`. */
export const GENERATOR = Symbol.for("heddle.checkpoint-id");

/** True for the URL of the ES module that makes the ids, in any version and copy of the package. */
export const isIdModule = (url) => ES_MODULE.test(url);

/** True for the path or URL of its CommonJS form. */
export const isIdCommonJs = (path) => COMMONJS.test(path);

const installed = 'globalThis[Symbol.for("heddle.checkpoint-id")]';

/** Source of an ES module that stands for the one at `url`; the query makes the original a module of its own. */
export function replacementModule(url) {
  const original = JSON.stringify(`${url}?original`);
  return `import { uuid6 as original } from ${original};
export * from ${original};
export const uuid6 = (clockseq) => (${installed} ?? original)(clockseq);
`;
}

/** Puts the generator in place of the one that the CommonJS form exports. */
export function replaceExport(exports) {
  const original = exports.uuid6;
  exports.uuid6 = (clockseq) => (globalThis[GENERATOR] ?? original)(clockseq);
}
