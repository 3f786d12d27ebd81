/** What a request is for, by its address. */
export interface Way {
  /** Null: it is for a deployment, and there can be none of that name. */
  slug: string | null;
  /** Behind the deployment's address, with its query. */
  path: string;
  /** Of the deployment's address; empty where the host alone says which one it is. */
  prefix: string;
  /** As people know it. */
  shown: string;
}

const PATH = /^\/d\/([a-z0-9][a-z0-9-]{0,79})(\/.*|\?.*)?$/;
const LABEL = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** `/d/<deployment>/…`; null when it is for the control plane itself. */
export function wayByPath(url: string): Way | null {
  const [, slug, path] = PATH.exec(url) ?? [];
  if (slug === undefined) return null;
  const prefix = `/d/${slug}`;
  return { slug, path: path === undefined ? "/" : path.startsWith("?") ? `/${path}` : path, prefix, shown: prefix };
}

/**
 * `<deployment>.<domain>`, whatever the path; on every other host by path. What is below the domain is never the
 * control plane: a page of a deployment and its API are of different origins.
 */
export function wayByHost(domain: string, hostHeader: string, url: string): Way | null {
  const host = hostHeader.trim().toLowerCase().replace(/:\d+$/, "").replace(/\.$/, "");
  if (!host.endsWith(`.${domain}`)) return wayByPath(url);
  const label = host.slice(0, -domain.length - 1);
  // `*` is asked of servers, and an address in full of proxies (RFC 9112 §3.2)
  const path = url.startsWith("/") ? url : url.startsWith("?") ? `/${url}` : "/";
  return { slug: LABEL.test(label) ? label : null, path, prefix: "", shown: host };
}
