/**
 * The whole API also answers below `/api-host`, where some clients look for it (contract control-plane §0.3).
 * `others`: further paths of the same endpoint.
 */
export const hosted = (path: `/${string}`, ...others: string[]): { path: string; aliases: string[] } => ({
  path,
  aliases: [`/api-host${path}`, ...others.flatMap((one) => [one, `/api-host${one}`])],
});
