// Loads the large packages of the graph host before tsx is there, whose hook looks at each of their several
// hundred modules: half of the time that a host needs to start. They are the same modules afterwards, because
// a module is known by its URL. A plain script, since it runs ahead of what could read TypeScript.
//
// Which copy: the project's, as resolve-hook.ts has it. What is missing or fails here is not our business:
// the host itself says what a project lacks, in words.
import { pathToFileURL } from "node:url";

const PACKAGES = ["@langchain/langgraph", "@langchain/core/messages", "zod"];

const project = JSON.parse(process.env.HEDDLE_HOST_PROJECT ?? "null");
if (project) {
  const from = pathToFileURL(`${project.dir}/langgraph.json`).href;
  await Promise.allSettled([
    import("postgres"),
    ...PACKAGES.map(async (name) => import(import.meta.resolve(name, from))),
  ]);
}
