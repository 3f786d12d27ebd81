/**
 * Declares an endpoint's path and the same below `/api-host`, where some clients expect the API. `others`: further
 * paths of the endpoint.
 */
export const hosted = (path: `/${string}`, ...others: string[]): { path: string; aliases: string[] } => ({
  path,
  aliases: [`/api-host${path}`, ...others.flatMap((alias) => [alias, `/api-host${alias}`])],
});
