import type { Context } from "hono";

import type { ControlDeps } from "../deps.ts";
import { baseUrl } from "../public-url.ts";
import { registryPath } from "./registry-path.ts";

/** Issues a push token with the prefix of image names, without the scheme. */
export function issuePushToken(
  deps: Pick<ControlDeps, "settings" | "pushTokens">,
  deploymentId: string,
  c: Context,
): { token: string; registry_url: string } {
  const { registryUrl, registryPassword, pushTokenSeconds } = deps.settings;
  if (registryUrl !== undefined) {
    const scheme = /^https?:\/\//.exec(registryUrl)?.[0] ?? "https://";
    return { token: registryPassword ?? "", registry_url: scheme + registryPath(registryUrl, deploymentId) };
  }
  const expires = Math.floor(Date.now() / 1000) + pushTokenSeconds;
  // registries are at the root of their host, whatever the prefix of this request
  const { origin } = new URL(baseUrl(deps, c));
  return { token: deps.pushTokens.issue(deploymentId, expires), registry_url: `${origin}/d/${deploymentId}` };
}
