import type { TestProject } from "vitest/node";
import type { Language } from "./lacks.ts";
import { startServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    url: string;
    langgraph: { language: Language; version: string };
  }
}

const LOAD_MS = 120_000;

/** Provides one server for the whole run: the one at `HEDDLE_URL`, or a child process that is stopped afterwards. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env["HEDDLE_URL"];
  const server = given ? undefined : await startServer();
  const url = given ? given.replace(/\/$/, "") : server!.url;
  project.provide("url", url);
  project.provide("langgraph", await installedLangGraph(url));
  return server && (() => server.stop({ withArchive: true }));
}

/** Resolves once the server has loaded its graphs. */
async function installedLangGraph(url: string): Promise<{ language: Language; version: string }> {
  const deadline = Date.now() + LOAD_MS;
  for (;;) {
    const info = (await (await fetch(`${url}/info`)).json()) as Record<string, string | undefined>;
    const { langgraph_py_version: python, langgraph_js_version: javascript } = info;
    if (python) return { language: "python", version: python };
    if (javascript) return { language: "javascript", version: javascript };
    if (Date.now() > deadline) throw new Error(`${url}/info names no version of LangGraph: ${JSON.stringify(info)}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
