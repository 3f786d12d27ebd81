/**
 * Process that reads the types of graphs: the argument `{"graphs": [{"file", "export"}], "messages"}`, a line of JSON for
 * each graph on standard output, in their order. A separate process, because checking types takes seconds of processor
 * time and hundreds of megabytes. Those go into the libraries, which the graphs share.
 */
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

import type * as Ts from "typescript";

import { type ParsedFiles, readTypes } from "./read-types.ts";
import type { JsonSchema } from "./type-schema.ts";

/** The project's own TypeScript, else the one beside Heddle; undefined where neither has the compiler's API. */
function loadTypeScript(file: string): typeof Ts | undefined {
  for (const from of [file, import.meta.url]) {
    try {
      const ts = createRequire(from)("typescript") as typeof Ts;
      if (typeof ts.createProgram === "function") return ts;
    } catch {
      // not installed there
    }
  }
  return undefined;
}

/** Ends this process with its parent, even while it computes: standard input closes then. */
const watch = `const stream = new (require("node:net").Socket)({ fd: 0, readable: true, writable: false });
  stream.on("error", () => process.kill(process.pid, "SIGKILL"));
  stream.on("close", () => process.kill(process.pid, "SIGKILL"));
  stream.resume();`;
new Worker(watch, { eval: true, execArgv: [] }).unref();
// Node's own exit ends the watch, then waits for the threads of V8, one of which may be waiting for memory that only
// this thread can free (nodejs/node#54918)
process.once("exit", () => process.kill(process.pid, "SIGKILL"));

const request = JSON.parse(process.argv[2]!) as { graphs: { file: string; export: string }[]; messages: JsonSchema };
const parsed: ParsedFiles = new Map();
for (const { file, export: name } of request.graphs) {
  const ts = loadTypeScript(file);
  const found = ts && readTypes(ts, file, name, request.messages, parsed);
  await new Promise((written) =>
    process.stdout.write(`${JSON.stringify(found ?? { schemas: {}, files: [] })}\n`, written),
  );
}
process.exit();
