/**
 * Heads of requests: many and long headers, doubled and contradictory ones, headers of proxies, of upgrades and of
 * Heddle itself.
 */
import fc from "fast-check";

import type { HttpInput } from "../http-input.ts";
import { sizes } from "../json-values.ts";
import type { Piece } from "../pieces.ts";
import { runHttp, type Surface } from "../surface.ts";
import type { ServerName } from "../servers.ts";
import { MARKS } from "../world.ts";
import { callers } from "./json.ts";

/** Routes of a project's own app. */
const CUSTOM = [
  ["GET", "/admin/export"],
  ["POST", "/mirror", '{"a":1}'],
  ["POST", "/admin/users/7/delete", "{}"],
  ["GET", "/sub/secret"],
  ["GET", "/info"],
] as const;

/** Cheap requests, one that creates a run and one that is forwarded. */
const TARGETS: Record<ServerName, readonly (readonly [method: string, target: string, body?: string])[]> = {
  agent: [
    ["GET", "/ok"],
    ["GET", "/store/items?namespace=notes&key=k"],
    ["POST", "/threads", "{}"],
    ["POST", "/runs/wait", '{"assistant_id":"echo","input":{"text":"x"}}'],
    ["POST", "/runs/stream", '{"assistant_id":"echo","input":{"text":"x"}}'],
    ["POST", "/threads/search", '{"limit":5}'],
    ["POST", "/mcp/", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'],
  ],
  trace: [
    ["GET", "/api/v1/info"],
    ["GET", "/api/v1/workspaces"],
    ["POST", "/api/v1/runs/query", "{}"],
    ["POST", "/api/v1/runs/batch", '{"post":[]}'],
    ["POST", "/api/v1/login", '{"email":"a@b.example","password":"x"}'],
    ["POST", "/otel/v1/traces", '{"resourceSpans":[]}'],
  ],
  control: [
    ["GET", "/info"],
    ["GET", "/v2/deployments"],
    ["POST", "/v2/integrations/git", '{"name":"n","url":"https://a.example"}'],
    ["GET", "/v2/"],
    ["GET", "/d/none/ok"],
    ["POST", "/d/none/runs", "{}"],
    ["GET", "/d/hostile/info"],
    ["POST", "/d/hostile/runs/wait", '{"assistant_id":"echo","input":{}}'],
  ],
  app: CUSTOM,
  python: CUSTOM,
  console: [
    ["GET", "/"],
    ["GET", "/api/control/v2/deployments"],
    ["POST", "/api/trace/api/v1/runs/query", "{}"],
  ],
};

const VALUES: readonly string[] = [
  ...["", " ", "0", "-1", "1", "9".repeat(400), "NaN", "x", "\xe9\xff", "\t", "a\0b", "\x7f", "(", '"', "%0d%0a", ","],
  ...["null", "undefined", "[object Object]", "__proto__", "true", "false", "*", "../../etc/passwd", ",".repeat(3000)],
  ...["Thu, 01 Jan 1970 00:00:00 GMT", "bytes=0-", "bytes=9-1,".repeat(300), '"etag"', "identity", "gzip, gzip, gzip"],
  ...["application/json; charset=utf-16", "application/json; charset=\xff", "multipart/form-data", "text/event-stream"],
  ...["00-00000000000000000000000000000000-0000000000000000-00", `00-${"a".repeat(32)}-${"b".repeat(16)}-01`],
  ...["127.0.0.1", "::1", "::ffff:127.0.0.1, 10.0.0.1", "for=127.0.0.1;by=x", "1.1.1.1,".repeat(500)],
  ...["http://localhost", "null", "https://a.example", "localhost:99999", "a@b", "[::1", "h2c", "websocket"],
  ...["100-continue", "chunked", "close, upgrade", "keep-alive", "return=minimal", "respond-async, wait=100"],
  ...["Bearer ", "Basic ", "Basic !!!!", "Bearer null", `Basic ${"x".repeat(5000)}`, "Negotiate x"],
];

const NAMES: readonly string[] = [
  ...["x-api-key", "authorization", "x-tenant-id", "x-organization-id", "x-user-id", "x-service-key", "cookie"],
  ...["x-heddle-own-code", "x-heddle-csrf", "x-heddle-gateway", "x-heddle-user", "x-heddle-internal", "x-heddle-probe"],
  ...[
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-prefix",
    "forwarded",
    "x-real-ip",
    "via",
  ],
  ...["origin", "referer", "sec-fetch-site", "sec-fetch-mode", "access-control-request-method"],
  ...["access-control-request-headers", "host", "content-type", "content-encoding", "accept", "accept-encoding"],
  ...["accept-language", "if-none-match", "if-modified-since", "range", "expect", "te", "trailer", "prefer"],
  ...["traceparent", "tracestate", "baggage", "last-event-id", "x-request-id", "idempotency-key", "x-pagination-total"],
  ...["langsmith-project", "langsmith-trace", "x-auth-scheme", "mcp-session-id", "mcp-protocol-version", "upgrade"],
  ...["connection", "proxy-connection", "http2-settings", "sec-websocket-key", "sec-websocket-version", "keep-alive"],
  ...["x-http-method-override", "x-original-url", "x-rewrite-url", "transfer-encoding", "content-length", "user-agent"],
  ...["__proto__", "constructor", "x-a", "x-" + "y".repeat(500)],
];

const HEDDLE_HEADER = `x-heddle-probe: ${MARKS.heddleHeader}\r\nx-heddle-own-code: ${MARKS.heddleHeader}\r\n`;

export const headers: Surface<HttpInput> = {
  name: "headers",
  servers: ["agent", "trace", "control", "console", "app", "python"],
  weight: 4,
  inputs(_, server) {
    const line = fc
      .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES))
      .map(([name, value]) => `${name}: ${value}\r\n`);
    const odd = fc.constantFrom(
      ...[
        "x\r\n",
        ": x\r\n",
        " x: y\r\n",
        "x y: z\r\n",
        "x:y\n",
        "x: y\r z\r\n",
        "\r\n",
        "x: a\r\n b\r\n",
        "\0: x\r\n",
        "é: x\r\n",
      ],
      "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
      "content-length: 5\r\ncontent-length: 6\r\n",
      "transfer-encoding: chunked, identity\r\n",
      "transfer-encoding: xchunked\r\n",
      "host: a\r\nhost: b\r\n",
      "connection: upgrade\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
      "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
      "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
      "connection: upgrade\r\nupgrade: TLS/1.0, HTTP/1.1\r\n",
      "expect: 100-continue\r\n",
    );
    const many = fc
      .tuple(
        fc.constantFrom(
          "a: b\r\n",
          "x-#: y\r\n",
          "cookie: a=b\r\n",
          "x-api-key: #\r\n",
          "a:\r\n",
          "x-forwarded-for: 1.1.1.#\r\n",
        ),
        sizes(),
      )
      .map(([repeat, times]): Piece => ({ repeat, times: Math.min(times, 20_000) }));
    const long = fc
      .tuple(fc.constantFrom(...NAMES), fc.constantFrom("x", "a=b; ", "1.1.1.1, ", "\xff", "%41", "a,"), sizes())
      .map(([name, unit, times]): Piece[] => [`${name}: `, { repeat: unit, times: Math.min(times, 100_000) }, "\r\n"]);
    const part = fc.oneof(
      { weight: 6, arbitrary: line.map((text): Piece[] => [text]) },
      { weight: 2, arbitrary: odd.map((text): Piece[] => [text]) },
      { weight: 1, arbitrary: many.map((piece): Piece[] => [piece]) },
      { weight: 1, arbitrary: long },
    );
    const inputs = fc
      .record({
        caller: callers(),
        target: fc.constantFrom(...TARGETS[server]),
        parts: fc.array(part, { minLength: 1, maxLength: 5 }),
        end: fc.oneof(
          { weight: 9, arbitrary: fc.constant("\r\n") },
          { weight: 1, arbitrary: fc.constantFrom("", "\n", "\r\n\r\nGET / HTTP/1.1\r\n\r\n") },
        ),
      })
      .map(({ caller, target: [method, target, body], parts, end }): HttpInput => {
        const length =
          body === undefined ? [] : [`content-type: application/json\r\ncontent-length: ${body.length}\r\n`];
        const own = caller === "key" && server === "agent" ? [HEDDLE_HEADER] : [];
        return {
          server,
          caller: caller === "stranger" ? "nobody" : caller,
          method,
          target,
          rawHead: [...own, ...length, ...parts.flat(), ...(end === "\r\n" ? ["\r\n"] : [end])],
          ...(body !== undefined && { body: [body] }),
        };
      });
    return () => inputs;
  },
  async run(input, session) {
    const outcome = await runHttp(input, session);
    const isProtected = input.caller === "nobody" && !PUBLIC.has(input.target);
    if (outcome.problem !== undefined || !isProtected || !outcome.label.startsWith("2")) return outcome;
    return { ...outcome, problem: "is answered without a key" };
  },
};

const PUBLIC = new Set(["/ok", "/", "/info", "/api/v1/info", "/d/hostile/info"]);
