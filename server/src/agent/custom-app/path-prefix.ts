import { type Context, Hono } from "hono";

/** A path that no URL decodes to. */
const OUTSIDE = "\0";
const PROBES = new Set(["/ok", "/ready", "/readyz", "/livez", "/metrics"]);

/**
 * Strips `MOUNT_PREFIX` or `http.mount_prefix`, for proxies that pass paths on unchanged. All routes are below the
 * prefix; the probes and the metrics are also served without it,
 * for the operator of the server.
 */
export function pathBelow(prefix: string): (request: Request) => string {
  const { getPath } = new Hono();
  return (request) => {
    const path = getPath(request);
    if (path === prefix) return "/";
    if (path.startsWith(`${prefix}/`)) return path.slice(prefix.length);
    return PROBES.has(path) ? path : OUTSIDE;
  };
}

/** Responds with 404 to requests outside the prefix, before any project code sees them. */
export const rejectOutside = (app: Hono, notFound: (c: Context) => Response): void => {
  app.use((c, next) => (c.req.path === OUTSIDE ? Promise.resolve(notFound(c)) : next()));
};
