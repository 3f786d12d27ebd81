/**
 * Paths of one endpoint. The trace platform serves each endpoint under several paths, because clients build them from a
 * base URL that may or may not end in a prefix. `path` is the documented one.
 *
 *     route({ ...v1("/sessions"), method: "GET", … })   // /api/v1/sessions, /sessions, /v1/sessions, /api/sessions
 */
export interface Paths {
  path: string;
  aliases: string[];
}

export const v1 = (path: `/${string}`): Paths => ({
  path: `/api/v1${path}`,
  aliases: [path, `/v1${path}`, `/api${path}`],
});

export const v2 = (path: `/${string}`): Paths => ({ path: `/api/v2${path}`, aliases: [`/v2${path}`] });

/** Paths of endpoints that the contract documents under `/v1/platform`. */
export const platform = (path: `/${string}`): Paths => ({
  path: `/v1/platform${path}`,
  aliases: [`/api/v1/platform${path}`],
});
