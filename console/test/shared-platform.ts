import { inject } from "vitest";

import type { Platform } from "./platform.ts";
import { connect, type Seeded, type SeededIds } from "./seed-traces.ts";
import type { SharedPlatformName } from "./shared-platforms.ts";

export type SharedPlatform = Omit<Platform, "restart" | "stop">;

/** Returns a platform that several test files use at the same time. */
export async function sharedPlatform(name: SharedPlatformName): Promise<SharedPlatform> {
  return await ask<SharedPlatform>(name);
}

/** Returns traces and a dataset on the open platform. Several test files read them; only traces.browser.test.ts adds to them. */
export async function sharedTraces({ traceUrl }: SharedPlatform): Promise<Seeded> {
  const ids = await ask<SeededIds>("open/traces");
  return { client: connect(traceUrl), ids, ...ids };
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${inject("sharedPlatforms")}/${path}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}
