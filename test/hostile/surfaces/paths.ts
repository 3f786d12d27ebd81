/**
 * Spellings of declared paths: encodings, traversals, other separators, absolute forms. Who has no key may read public
 * routes only, however a path is written.
 */
import fc from "fast-check";

import { type HttpInput, pathAsRead } from "../http-input.ts";
import { runHttp, type Session, type Surface } from "../surface.ts";
import type { ServerName } from "../servers.ts";
import type { World } from "../world.ts";
import { callers, listEndpoints } from "./json.ts";

const METHODS = [
  "GET",
  "GET",
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PROPFIND",
  "get",
  "QUERY",
];
const SPELLINGS: readonly ((path: string, pick: number) => string)[] = [
  (path) => path,
  (path) => `${path}%0A`,
  (path) => `${path}%0D%0A`,
  (path) => `${path}%00`,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `/${path}`,
  (path) => path.replaceAll("/", "//"),
  (path) => path.replaceAll("/", "/./"),
  (path) => path.replaceAll("/", "%2f").replace("%2f", "/"),
  (path) => path.replaceAll("/", "%5c").replace("%5c", "/"),
  (path) => path.replaceAll("/", "\\").replace("\\", "/"),
  (path) => `/x/..${path}`,
  (path) => `/x/%2e%2e${path}`,
  (path) => `/%2e%2e/%2e%2e${path}`,
  (path) => `/..%2f..${path}`,
  (path) => `${path}/..;/x`,
  (path) => `${path};x=1`,
  (path) => `${path}%3b`,
  (path) => `${path}#x`,
  (path) => `${path}%23x`,
  (path) => `${path}%3fx=1`,
  (path) => `${path}?`,
  (path) => `${path}?${"x=1&".repeat(1500)}`,
  (path) => path.toUpperCase(),
  (path, pick) => escapeAt(path, pick, (code) => `%${code.toString(16)}`),
  (path, pick) => escapeAt(path, pick, (code) => `%${code.toString(16).toUpperCase()}`),
  (path, pick) => escapeAt(path, pick, (code) => `%25${code.toString(16)}`),
  // an overlong encoding in UTF-8
  (path, pick) =>
    escapeAt(path, pick, (code) => `%${(0xc0 | (code >> 6)).toString(16)}%${(0x80 | (code & 63)).toString(16)}`),
  (path, pick) => escapeAt(path, pick, (code) => `%u00${code.toString(16)}`),
  (path, pick) => insertAt(path, pick, "%"),
  (path, pick) => insertAt(path, pick, "%ff"),
  (path, pick) => insertAt(path, pick, "%c0%ae"),
  (path, pick) => insertAt(path, pick, "%09"),
  (path, pick) => insertAt(path, pick, "\t"),
  (path, pick) => insertAt(path, pick, "\u00e9"),
  (path, pick) => insertAt(path, pick, "%e2%80%a8"),
  (path, pick) => insertAt(path, pick, "\x01"),
  (path, pick) => insertAt(path, pick, "x".repeat(9000)),
  (path, pick) => insertAt(path, pick, "/".repeat(3000)),
  (path, pick) => insertAt(path, pick, "%2f..".repeat(500)),
  (path) => `http://localhost${path}`,
  (path) => `http://a.example${path}`,
  (path) => `http://${path}`,
  (path) => `http:${path}`,
  (path) => `//a.example${path}`,
  (path) => `http://[::1${path}`,
  (path) => `http://user:password@localhost:99999${path}`,
  (path) => path.slice(1),
  () => "*",
  () => "",
  (path) => `.${path}`,
  (path) => `?${path}`,
  (path) => path.split("/").slice(0, 3).join("/"),
  (path) => `${path}/__proto__/constructor`,
];

function escapeAt(path: string, pick: number, escape: (code: number) => string): string {
  const at = 1 + (pick % Math.max(1, path.length - 1));
  return path.slice(0, at) + escape(path.charCodeAt(at) || 0x2f) + path.slice(at + 1);
}

const insertAt = (path: string, pick: number, text: string): string => {
  const at = 1 + (pick % path.length);
  return path.slice(0, at) + text + path.slice(at);
};

export const paths: Surface<HttpInput> = {
  name: "paths",
  servers: ["agent", "trace", "control", "console", "app", "python"],
  weight: 4,
  inputs(world, server) {
    const known = listPaths(world, server);
    const inputs = fc
      .record({
        caller: callers(),
        method: fc.constantFrom(...METHODS),
        path: fc.constantFrom(...known),
        spelling: fc.nat(SPELLINGS.length - 1),
        twice: fc.oneof(
          { weight: 4, arbitrary: fc.constant(0) },
          { weight: 1, arbitrary: fc.nat(SPELLINGS.length - 1) },
        ),
        pick: fc.nat(60),
      })
      .map(({ caller, method, path, spelling, twice, pick }): HttpInput => {
        const once = SPELLINGS[twice]!(path, pick);
        const target = SPELLINGS[spelling]!(once, pick).slice(0, 12_000);
        return { server, caller: caller === "stranger" ? "nobody" : caller, method, target };
      });
    return () => inputs;
  },
  async run(input, session) {
    const outcome = await runHttp(input, session);
    if (outcome.problem !== undefined || input.caller !== "nobody" || input.server === "console") return outcome;
    const isAnswered = outcome.label.startsWith("2");
    const mayBe = ["OPTIONS", "HEAD", "TRACE"].includes(input.method) || isPublic(input.target, input.server, session);
    return isAnswered && !mayBe ? { ...outcome, problem: "is answered without a key" } : outcome;
  },
};

/** Real paths: with the ids of the caller's objects. */
export function listPaths(world: World, server: ServerName): string[] {
  if (server === "console") {
    const behind = (["control", "trace"] as const).flatMap((space) =>
      listPaths(world, space).map((path) => `/api/${space}${path}`),
    );
    return [...behind, "/", "/runs", "/assets/x.js", "/api/agent/threads", "/api/", "/config.json"];
  }
  if (server === "app" || server === "python") {
    const own = ["/admin/export", "/admin/users/7/delete", "/files/a/b", "/mirror", "/sub/secret", "/sub"];
    return [...own, ...own, "/info", "/threads", "/store/items", "/metrics"];
  }
  const ids = world.ids[server];
  const declared = listEndpoints(world, server).map(({ path }) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]?.[0] ?? ids[name.replace(/s$/, "")]?.[0] ?? "x"),
  );
  return [...new Set([...declared, ...world.gatewayPaths(server)])];
}

/** Whether a path means a public route, by the most generous reading. */
function isPublic(target: string, server: ServerName, { world }: Session): boolean {
  const open = listEndpoints(world, server)
    .filter(({ operation }) => (operation as { security?: unknown[] }).security?.length === 0)
    .map(({ path }) => new RegExp(`^${path.replaceAll(/[.]/g, "\\.").replace(/\{\w+\}/g, ".+")}/?$`));
  const readings = [target, target.split(/[?#]/)[0]!, pathAsRead(target)];
  return readings.some(
    (reading) => open.some((pattern) => pattern.test(reading)) || world.isPublicDeploymentPath(reading),
  );
}
