import type { TestProject } from "vitest/node";
import { startServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    url: string;
  }
}

/** Provides one server for the whole run: the one at `HEDDLE_URL`, or a child process that is stopped afterwards. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env["HEDDLE_URL"];
  if (given) {
    project.provide("url", given.replace(/\/$/, ""));
    return undefined;
  }
  const server = await startServer();
  project.provide("url", server.url);
  return () => server.stop({ withArchive: true });
}
