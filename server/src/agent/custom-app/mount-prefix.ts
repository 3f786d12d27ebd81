import { type Context, Hono } from "hono";

import type { AgentDeps } from "../deps.ts";

/** Empty, or a path without a slash at its end. */
export const mountPrefix = ({ settings, project }: Pick<AgentDeps, "settings" | "project">): string =>
  settings.mountPrefix ?? project.config.http.mount_prefix ?? "";

/** What no URL is decoded to. */
const OUTSIDE = "\0";

/**
 * `MOUNT_PREFIX` or `http.mount_prefix`: where a proxy passes paths on as they are. Everything is below the prefix;
 * `/ok` and `/ready` answer without it too, for whatever looks whether the server lives.
 */
export function pathBelow(prefix: string): (request: Request) => string {
  const { getPath } = new Hono();
  return (request) => {
    const path = getPath(request);
    if (path === prefix) return "/";
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    return path === "/ok" || path === "/ready" ? path : OUTSIDE;
  };
}

/** Nothing of the project's own code sees what is outside. */
export const refuseOutside = (app: Hono, notFound: (c: Context) => Response): void => {
  app.use((c, next) => (c.req.path === OUTSIDE ? Promise.resolve(notFound(c)) : next()));
};
