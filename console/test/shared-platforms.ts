/**
 * vitest's globalSetup of the console's tests: platforms that several files use, since a start takes as long as ten
 * tests. Each is started when the first file asks for it. What a file makes there is its own, under names or ids of
 * its own; a file that wants a platform as it is at first, or restarts it, starts one for itself.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import type { TestProject } from "vitest/node";

import { type Platform, startPlatform } from "./platform.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where files ask for platforms. */
    sharedPlatforms: string;
  }
}

const PLATFORMS = {
  /** Nobody needs a key. */
  open: () =>
    startPlatform(
      "dev",
      { HEDDLE_OUTBOUND_ALLOW: "127.0.0.1/32", HEDDLE_RATE_LIMITS: "off" },
      "console/test/project/langgraph.json",
    ),
  /** Nobody enters without a credential. */
  guarded: () => startPlatform("up", { HEDDLE_AUTH: "required", HEDDLE_RATE_LIMITS: "on" }),
};
export type SharedPlatformName = keyof typeof PLATFORMS;

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<Platform>>();
  const server = createServer((request, response) => {
    const name = request.url!.slice(1) as SharedPlatformName;
    const platform = started.get(name) ?? PLATFORMS[name]();
    started.set(name, platform);
    platform.then(
      (one) => response.end(JSON.stringify(one)),
      (error: Error) => {
        // the next file that asks tries again
        if (started.get(name) === platform) started.delete(name);
        response.writeHead(500).end(error.message);
      },
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  project.provide("sharedPlatforms", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    await Promise.allSettled([...started.values()].map(async (one) => await (await one).stop()));
  };
}
