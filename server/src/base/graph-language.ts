import { extname } from "node:path";

/** Language of a graph, and of the host processes that run it. */
export type Language = "javascript" | "python";

/** Returns the part of `file:export` that names the file. The colon of a Windows drive letter does not count. */
export const fileOfGraph = (path: string): string => path.replace(/(?<=..):[^:]*$/, "");

/**
 * Returns the language of an export that langgraph.json names: Python for `./file.py:name` and for dotted modules such
 * as `package.module:name`, otherwise JavaScript.
 */
export function languageOf(path: string): Language {
  const file = fileOfGraph(path);
  if (extname(file) === ".py") return "python";
  return /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(file) && !JAVASCRIPT.test(file) ? "python" : "javascript";
}

const JAVASCRIPT = /\.[cm]?[jt]sx?$/;
