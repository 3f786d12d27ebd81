/**
 * The trace platform's own API as its MCP tools call it: through the application's routes, in this process, as the
 * caller of the tool. Permissions, limits, audit and validation are therefore those of the routes.
 */
import type { Context, Hono } from "hono";

import type { Principal } from "../../base/auth/principal.ts";
import { CALLER } from "../../base/http/route.ts";
import { ToolError } from "./tool-error.ts";

/** The application, which is built after its routes. */
export interface OwnApp {
  fetch?: Hono["fetch"];
}

/** Headers of the message that do not belong to the requests made for it. */
const OWN_HEADERS = /^(content-|accept|mcp-|if-|range$|transfer-encoding$|connection$|host$|origin$|sec-)/;

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export class PlatformApi {
  readonly #app: OwnApp;
  readonly #c: Context;
  readonly #caller: Principal;

  constructor(app: OwnApp, c: Context, caller: Principal) {
    this.#app = app;
    this.#c = c;
    this.#caller = caller;
  }

  get<T>(path: string, query: Query = {}): Promise<T> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) for (const each of [value].flat()) parameters.append(name, String(each));
    return this.send<T>("GET", parameters.size > 0 ? `${path}?${parameters.toString()}` : path);
  }

  post<T>(path: string, body: object): Promise<T> {
    return this.send<T>("POST", path, body);
  }

  async send<T>(method: string, path: string, body?: object): Promise<T> {
    const headers = new Headers({ accept: "application/json" });
    for (const [name, value] of this.#c.req.raw.headers) if (!OWN_HEADERS.test(name)) headers.set(name, value);
    if (body) headers.set("content-type", "application/json");
    const url = new URL(path, this.#c.req.url);
    // a name such as ".." would lead to another route than the tool's
    if (url.pathname !== path.split("?", 1)[0]) throw new ToolError('No name or id may be "." or "..".');
    const request = new Request(url, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const bindings = { ...(this.#c.env as object | undefined), [CALLER]: this.#caller };
    const response = await this.#app.fetch!(request, bindings);
    const text = await response.text();
    if (!response.ok) throw explain(response, text);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }
}

/** Returns an error that tells a model what to do next. */
function explain({ status, headers }: Response, text: string): ToolError {
  const message = messageIn(text);
  if (status === 429 || status === 503) {
    const seconds = headers.get("retry-after") ?? "1";
    return new ToolError(`${message} Call again in ${seconds} s.`);
  }
  if (status === 403) return new ToolError(`${message} Use a key whose role has it.`);
  if (status === 413) return new ToolError(`${message} Ask for less: fewer items, a shorter time range or a filter.`);
  if (status >= 500) return new ToolError("The platform could not answer. Call again; if it persists, read its log.");
  return new ToolError(message);
}

function messageIn(text: string): string {
  let parsed: { detail?: unknown; error?: unknown; message?: unknown };
  try {
    parsed = JSON.parse(text) as typeof parsed;
  } catch {
    return text.slice(0, 1000);
  }
  const found = parsed.detail ?? parsed.message ?? parsed.error;
  if (typeof found === "string") return found;
  if (!Array.isArray(found)) return text.slice(0, 1000);
  return (found as { loc?: unknown[]; msg?: string }[])
    .map(({ loc, msg }) => `${(loc ?? []).slice(1).join(".")}: ${msg ?? ""}`)
    .join("; ");
}
