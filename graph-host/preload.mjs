// Loads the large packages of the graph host before tsx is there, whose hook looks at each of their several
// hundred modules: half of the time that a host needs to start. They are the same modules afterwards, because
// a module is known by its URL. A plain script, since it runs ahead of what could read TypeScript.
//
// Which copy: the project's, as resolve-hook.ts has it. What is missing or fails here is not our business:
// the host itself says what a project lacks, in words.
//
// One of these modules is replaced (checkpoint-id-module.mjs). A hook by `module.register` would cost a message to
// its thread for each module and cannot be removed, so it is done without: where Node has synchronous hooks by these,
// and on Node 20 at the function by which its loader reads files. Where neither is there, LangGraph is loaded later.
import { promises as files } from "node:fs";
import * as nodeModule from "node:module";
import { pathToFileURL } from "node:url";

import { isIdModule, replacementModule } from "./checkpoint-id-module.mjs";

const PACKAGES = ["@langchain/core/messages", "zod"];

const project = JSON.parse(process.env.HEDDLE_HOST_PROJECT ?? "null");
if (project) {
  const from = pathToFileURL(`${project.dir}/langgraph.json`).href;
  const load = async (name) => import(import.meta.resolve(name, from));
  const restore = replaceModule();
  await Promise.allSettled([
    import("postgres"),
    ...PACKAGES.map(load),
    ...(restore ? [load("@langchain/langgraph")] : []),
  ]);
  restore?.();
}

/** Answers how to undo it, or undefined where this version of Node has no way. */
function replaceModule() {
  if (nodeModule.registerHooks) {
    const hooks = nodeModule.registerHooks({
      load: (url, context, next) =>
        isIdModule(url) ? { format: "module", source: replacementModule(url), shortCircuit: true } : next(url, context),
    });
    return () => hooks.deregister();
  }
  if (!process.versions.node.startsWith("20.")) return undefined;
  const { readFile } = files;
  files.readFile = (file, ...options) => {
    const url = file instanceof URL ? file.href : "";
    if (isIdModule(url)) return Promise.resolve(Buffer.from(replacementModule(url)));
    return readFile(file, ...options);
  };
  return () => void (files.readFile = readFile);
}
