/**
 * Headers by which Heddle's own programs talk to its servers, `x-heddle-*` and `heddle-*`. A server that passes headers on to a
 * project's code, or stores them, takes them off a request on arrival; its own code reads them here.
 */
import type { Context, MiddlewareHandler } from "hono";

/**
 * Says that the gateway or the console forwarded the request for a caller outside. Without `x-`, because other servers
 * behind the gateway store headers that begin with it.
 */
export const FORWARDED_HEADER = "heddle-forwarded";

export const isInternalHeader = (name: string): boolean => /^(?:x-)?heddle-/i.test(name);

const TAKEN = "heddle.internalHeaders";

export const takeInternalHeaders: MiddlewareHandler = (c, next) => {
  const { incoming } = (c.env ?? {}) as { incoming?: { headers: Record<string, unknown>; rawHeaders: string[] } };
  const { headers } = c.req.raw;
  const names = (incoming ? Object.keys(incoming.headers) : [...headers.keys()]).filter(isInternalHeader);
  if (names.length > 0) {
    const taken = new Headers();
    for (const name of names) {
      taken.set(name, headers.get(name) ?? "");
      headers.delete(name);
    }
    c.set(TAKEN, taken);
    // a project's app reaches the connection's request too
    if (incoming) {
      for (const name of names) delete incoming.headers[name];
      incoming.rawHeaders = incoming.rawHeaders.filter((_, i, all) => !isInternalHeader(all[i - (i % 2)]!));
    }
  }
  return next();
};

export const internalHeader = (c: Context, name: string): string | null =>
  (c.get(TAKEN) as Headers | undefined)?.get(name) ?? c.req.raw.headers.get(name);

/** Returns the request's headers with those that were taken off it: for the server's own authentication. */
export function withInternalHeaders(c: Context): Headers {
  const { headers } = c.req.raw;
  const taken = c.get(TAKEN) as Headers | undefined;
  return taken ? new Headers([...headers, ...taken]) : headers;
}
