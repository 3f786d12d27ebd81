/** Target of a request, derived from its URL. */
export interface RouteMatch {
  /** Null when the URL is a deployment's, but its name is invalid. */
  slug: string | null;
  /** Path below the deployment's URL, with its query. */
  path: string;
  /** Path prefix of the deployment's URL; empty when the host alone identifies it. */
  prefix: string;
  /** Address for messages. */
  shown: string;
}

const PATH = /^\/d\/([a-z0-9][a-z0-9-]{0,79})(\/.*|\?.*)?$/;
const LABEL = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Matches `/d/<deployment>/…`; null when the request is for the control plane itself. */
export function matchPath(url: string): RouteMatch | null {
  const [, slug, path] = PATH.exec(url) ?? [];
  if (slug === undefined) return null;
  const prefix = `/d/${slug}`;
  return { slug, path: path === undefined ? "/" : path.startsWith("?") ? `/${path}` : path, prefix, shown: prefix };
}

/**
 * Matches `<deployment>.<domain>`, whatever the path; on any other host, by path. Hosts below the domain never reach
 * the control plane: a deployment's page and the API have different origins.
 */
export function matchHost(domain: string, hostHeader: string, url: string): RouteMatch | null {
  const host = hostHeader.trim().toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  if (!host.endsWith(`.${domain}`)) return matchPath(url);
  const label = host.slice(0, -domain.length - 1);
  // `*` addresses a server itself, and the absolute form a proxy (RFC 9112 §3.2)
  const path = url.startsWith("/") ? url : url.startsWith("?") ? `/${url}` : "/";
  return { slug: LABEL.test(label) ? label : null, path, prefix: "", shown: host };
}
