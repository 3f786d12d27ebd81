/**
 * vitest's globalSetup of the console's tests: platforms that several files share, since a start takes as long as ten
 * tests. Each is started when the first file requests it. A file creates its own objects there, under its own names or
 * ids; a file that needs a fresh platform, or restarts it, starts its own.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { TestProject } from "vitest/node";

import { type Platform, startPlatform } from "./platform.ts";
import { type SeededIds, seedTraces } from "./seed-traces.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address where test files request platforms. */
    sharedPlatforms: string;
  }
}

const PLATFORMS = {
  /** Requires no key. */
  open: () =>
    startPlatform(
      "dev",
      { HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32", HEDDLE_RATE_LIMITS: "off" },
      "console/test/project/langgraph.json",
    ),
  /** Requires a credential for everything. */
  guarded: () => startPlatform("up", { HEDDLE_AUTH: "required", HEDDLE_RATE_LIMITS: "on" }),
};
export type SharedPlatformName = keyof typeof PLATFORMS;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Platform>>();
  const startOnce = (name: SharedPlatformName) => getOrMake(started, name, () => PLATFORMS[name]());
  const seeded = new Map<string, Promise<SeededIds>>();
  const seedOnce = (name: SharedPlatformName) =>
    getOrMake(seeded, name, async () => (await seedTraces((await startOnce(name)).traceUrl)).ids);
  const server = createServer((request, response) => {
    const [, name, part] = request.url!.split("/") as [string, SharedPlatformName, "traces" | undefined];
    (part === "traces" ? seedOnce(name) : startOnce(name)).then(
      (answer) => response.end(JSON.stringify(answer)),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  project.provide("sharedPlatforms", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await Promise.allSettled([...started.values()].map(async (platform) => await (await platform).stop()));
  };
}

/** Returns what is known by the name, or makes it; the next request repeats what has failed. */
function getOrMake<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const before = known.get(name);
  if (before) return before;
  const made = make();
  known.set(name, made);
  made.catch(() => known.delete(name));
  return made;
}
