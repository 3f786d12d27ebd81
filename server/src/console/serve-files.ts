import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join, sep } from "node:path";

import sirv, { type RequestHandler } from "sirv";

/** First segments of the paths of the application's pages (console/src/routes). */
export const PAGES =
  "a alerts annotation-queues authorize budgets compare components dashboards datasets deployments evaluators experiments exports hub o playground projects prompts public rules settings sign-in".split(
    " ",
  );
const PAGE = new RegExp(`^/(?:${PAGES.join("|")})(?:/|$)`);

/**
 * Serves the console's files, and the application's page at the paths of its pages and to browsers at any path, where
 * the application says that there is no such page. Anything else is not found: a client of an API that has the
 * console's URL must not get a page with status 200. Asset names contain their hash.
 * @param base path below which the console is: pages of HTML then name their files below it; what those files name is
 *   relative to themselves
 */
export function serveFiles(directory: string, base: string): RequestHandler {
  const common = { brotli: true, gzip: true, etag: true };
  const assets = sirv(directory, { ...common, immutable: true, maxAge: 31_536_000 });
  const setHeaders = (response: ServerResponse) => void response.setHeader("cache-control", "no-cache");
  const files = sirv(directory, { ...common, setHeaders });
  const pages = sirv(directory, { ...common, setHeaders, single: true, ignores: false });
  const below = base === "" ? undefined : readPages(directory, base);
  return (request, response, next) => {
    if (request.url!.startsWith("/assets/")) return assets(request, response, next);
    const page = below?.get(request.url!.split("?", 1)[0]!);
    if (page !== undefined) return sendPage(response, page);
    files(request, response, () => {
      if (!isForPage(request)) return next?.();
      if (below) sendPage(response, below.get("/")!);
      else pages(request, response, next);
    });
  };
}

/** Browsers name HTML in the `Accept` of a navigation; clients of an API do not. */
function isForPage({ url = "/", headers: { accept = "*/*" } }: IncomingMessage): boolean {
  return accept.includes("text/html") || (accept.includes("*/*") && PAGE.test(url.split("?", 1)[0]!));
}

/** Reads the pages of HTML by their paths, with the paths of this origin that they name moved below `base`. */
function readPages(directory: string, base: string): Map<string, string> {
  const pages = new Map<string, string>();
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".html")) continue;
    const html = readFileSync(join(directory, name), "utf8").replaceAll(/ (href|src)="\/(?!\/)/g, ` $1="${base}/`);
    const path = `/${name.replaceAll(sep, "/").slice(0, -".html".length)}`;
    const folder = path.replace(/index$/, "");
    // as sirv names them: a page, or the index of a folder with and without its slash
    for (const at of path === folder ? [path] : [folder, folder.slice(0, -1)]) pages.set(at, html);
  }
  return pages;
}

function sendPage(response: ServerResponse, html: string): void {
  response.writeHead(200, { "content-type": "text/html;charset=utf-8", "cache-control": "no-cache" });
  response.end(html);
}
