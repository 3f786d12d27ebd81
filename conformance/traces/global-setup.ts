import type { TestProject } from "vitest/node";

import { startTraces } from "../server.ts";

declare module "vitest" {
  interface ProvidedContext {
    tracesUrl: string;
  }
}

/** Provides one trace platform for the whole run: the one at `HEDDLE_TRACES_URL`, or a child process. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env["HEDDLE_TRACES_URL"];
  if (given) {
    project.provide("tracesUrl", given.replace(/\/$/, ""));
    return undefined;
  }
  const server = await startTraces();
  project.provide("tracesUrl", server.url);
  return () => server.stop({ withArchive: true });
}
