import { PLATFORM_COOKIES } from "../../identity/platform-credentials.ts";
import type { RouteMatch } from "./route-match.ts";

/**
 * Rewrites a deployment's `Set-Cookie` so that browsers send the cookie to this deployment only: below its path, or to
 * its host. Undefined for a cookie with one of the platform's names.
 */
export function ownCookie(text: string, match: RouteMatch): string | undefined {
  const [pair = "", ...rest] = text.split(";").map((part) => part.trim());
  if (PLATFORM_COOKIES.has(sentName(pair))) return undefined;
  const attributes: string[] = [];
  let path: string | undefined;
  for (const attribute of rest) {
    const [name, value] = [attribute.split("=", 1)[0]!.trim().toLowerCase(), attribute.replace(/^[^=]*=?/, "").trim()];
    if (name === "path" && match.prefix !== "") path = value;
    else if (name !== "domain" || isWithin(value, match)) attributes.push(attribute);
  }
  return [pair, ...attributes, ...pathAttribute(path, match)].join("; ");
}

/** Returns the name under which the cookie is sent. A nameless one is sent as its value, which may contain a `=`. */
function sentName(pair: string): string {
  const text = pair.startsWith("=") ? pair.slice(1) : pair;
  return text.split("=", 1)[0]!.trim();
}

function isWithin(domain: string, match: RouteMatch): boolean {
  if (match.prefix !== "") return false;
  const name = domain.toLowerCase().replace(/^\./, "");
  return name === match.shown || name.endsWith(`.${match.shown}`);
}

/**
 * Returns a Path attribute; none when the browser's default, the directory of the request, is below the deployment's
 * path (RFC 6265 §5.1.4).
 */
function pathAttribute(path: string | undefined, { prefix, path: requested }: RouteMatch): string[] {
  if (prefix === "") return [];
  if (path?.startsWith("/")) {
    const isBelow = path === prefix || path.startsWith(`${prefix}/`);
    return [`Path=${isBelow ? path : path === "/" ? prefix : prefix + path}`];
  }
  const isAtRoot = requested.split("?", 1)[0]!.lastIndexOf("/") === 0;
  return isAtRoot ? [`Path=${prefix}`] : [];
}
