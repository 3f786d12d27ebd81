import { inject } from "vitest";

import type { Platform } from "./platform.ts";
import type { SharedPlatformName } from "./shared-platforms.ts";

export type SharedPlatform = Omit<Platform, "restart" | "stop">;

/** Returns a platform that several test files use at the same time. */
export async function sharedPlatform(name: SharedPlatformName): Promise<SharedPlatform> {
  const response = await fetch(`${inject("sharedPlatforms")}/${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as SharedPlatform;
}
