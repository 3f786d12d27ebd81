import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";

/** Returns a built page whose addresses begin with the path below which the console is reached. */
const readPage = (file: string, prefix: string): string =>
  readFileSync(file, "utf8").replaceAll(/ (href|src)="\//g, (_, name: string) => ` ${name}="${prefix}/`);

function send(response: ServerResponse, html: string): void {
  const body = Buffer.from(html);
  response.writeHead(200, {
    "content-type": "text/html;charset=utf-8",
    "cache-control": "no-cache",
    "content-length": body.byteLength,
  });
  response.end(response.req.method === "HEAD" ? undefined : body);
}

/** The application's only page (console/index.html), with a nonce for the styles that its scripts add. */
export class AppPage {
  readonly #html: string;

  /** @param prefix path below which the console is reached, or "" */
  constructor(directory: string, prefix: string) {
    this.#html = readPage(join(directory, "index.html"), prefix);
  }

  /** @param setPolicy sets the page's policy with its nonce */
  send(response: ServerResponse, setPolicy: (nonce: string) => void): void {
    const nonce = randomBytes(16).toString("base64");
    setPolicy(nonce);
    send(response, this.#html.replaceAll("NONCE_OF_THIS_RESPONSE", nonce));
  }
}

/**
 * Sends a page of the documentation below a prefix. Without one, its files are served as they are.
 * @param path of the request, without its query
 * @returns false when there is none at this path
 */
export function sendDocument(directory: string, prefix: string, path: string, response: ServerResponse): boolean {
  const [, name] = /^\/docs(?:\/([\w/-]*))?$/.exec(path) ?? [];
  if (name === undefined && path !== "/docs") return false;
  const file = join(directory, "docs", `${name || "index"}.html`);
  if (!existsSync(file)) return false;
  send(response, readPage(file, prefix));
  return true;
}
