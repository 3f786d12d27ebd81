// Loads the large packages of the graph host before tsx is installed, whose hook would inspect each of their several
// hundred modules: half of a host's start-up time. The modules stay the same afterwards, because a module is identified
// by its URL. This is a plain script, since it runs before TypeScript can be loaded.
//
// The copies loaded are the project's, as in resolve-hook.ts. Missing packages and failures are ignored here: the host
// itself reports what a project lacks.
//
// Two of these modules are replaced (replaced-modules.mjs). A `module.register` hook would cost a message to its
// thread per module and cannot be removed. Instead, synchronous hooks are used where Node has them, and on Node 20 the
// function by which its loader reads files is patched. Without either, LangGraph is loaded later.
import { promises as files } from "node:fs";
import * as nodeModule from "node:module";
import { pathToFileURL } from "node:url";

import { isReplaced, replacementModule } from "./replaced-modules.mjs";

const PACKAGES = ["@langchain/core/messages", "zod"];

const project = JSON.parse(process.env.HEDDLE_HOST_PROJECT ?? "null");
if (project) {
  const from = pathToFileURL(project.from ?? `${project.dir}/langgraph.json`).href;
  const load = async (name) => import(import.meta.resolve(name, from));
  const restore = replaceModule();
  await Promise.allSettled([
    import("postgres"),
    ...PACKAGES.map(load),
    ...(restore ? [load("@langchain/langgraph")] : []),
  ]);
  restore?.();
}

/** Returns a function that undoes the replacements, or undefined where this version of Node supports neither way. */
function replaceModule() {
  if (nodeModule.registerHooks) {
    const hooks = nodeModule.registerHooks({
      load: (url, context, next) =>
        isReplaced(url) ? { format: "module", source: replacementModule(url), shortCircuit: true } : next(url, context),
    });
    return () => hooks.deregister();
  }
  if (!process.versions.node.startsWith("20.")) return undefined;
  const { readFile } = files;
  files.readFile = (file, ...options) => {
    const url = file instanceof URL ? file.href : "";
    if (isReplaced(url)) return Promise.resolve(Buffer.from(replacementModule(url)));
    return readFile(file, ...options);
  };
  return () => void (files.readFile = readFile);
}
