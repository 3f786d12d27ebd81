/** Inputs that once broke a rule, replayed by every run before the generated ones. */
import type { HttpInput } from "./http-input.ts";
import type { ServerName } from "./servers.ts";

export interface FixedCase {
  title: string;
  surface: string;
  server: ServerName;
  input: unknown;
}

const http = (title: string, surface: string, input: HttpInput): FixedCase => ({
  title,
  surface,
  server: input.server,
  input,
});

const KEYLESS = { caller: "nobody", method: "GET" } as const;
const UPGRADE = "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAARAAAAAAAIAAAAA\r\n";
const JSON_HEAD = "content-type: application/json\r\n";
const TWO_MEBI = 2 * 1024 * 1024;

export const FIXED_CASES: readonly FixedCase[] = [
  http("a Trailer header through the console", "headers", {
    ...{ server: "console", caller: "nobody", method: "POST", target: "/api/control/v2/deployments" },
    rawHead: [`trailer: x-a\r\n${JSON_HEAD}content-length: 2\r\n\r\n`],
    body: ["{}"],
  }),
  http("a range that ends before it begins", "headers", {
    ...{ server: "console", ...KEYLESS, target: "/" },
    rawHead: ["range: bytes=9-1\r\n\r\n"],
  }),
  http("an offer of HTTP/2 to the control plane", "headers", {
    ...{ server: "control", caller: "key", method: "GET", target: "/v2/deployments" },
    rawHead: [`${UPGRADE}\r\n`],
  }),
  http("an offer of HTTP/2 with a body through the gateway", "headers", {
    ...{ server: "control", caller: "key", method: "POST", target: "/d/hostile/runs/wait" },
    rawHead: [`${UPGRADE}${JSON_HEAD}content-length: 34\r\n\r\n`],
    body: ['{"assistant_id":"echo","input":{}}'],
  }),
  http("headers of Heddle's own in a run", "headers", {
    ...{ server: "agent", caller: "key", method: "POST", target: "/runs/wait" },
    rawHead: [`x-heddle-own-code: of-a-heddle-header\r\n${JSON_HEAD}content-length: 34\r\n\r\n`],
    body: ['{"assistant_id":"echo","input":{}}'],
  }),
  http("metrics of a deployment behind a traversal", "paths", {
    ...{ server: "control", ...KEYLESS, target: "/d/hostile/x/%2e%2e/metrics" },
  }),
  http("a backslash in a path", "paths", { server: "agent", caller: "key", method: "GET", target: "/runs\\crons" }),
  http("an address that is none", "paths", {
    ...{ server: "trace", caller: "key", method: "GET", target: "http://[::1/api/v1/runs" },
  }),
  http("a line feed after a route of a project's app", "paths", {
    ...{ server: "app", ...KEYLESS, target: "/admin/export%0A" },
  }),
  http("a line feed after a route of a project's app in Python", "paths", {
    ...{ server: "python", ...KEYLESS, target: "/admin/export%0A" },
  }),
  ...(["agent", "control"] as const).map((server) =>
    http("60 MiB of empty objects in 60 kB", "json", {
      ...{ server, caller: "key", method: "POST", target: server === "agent" ? "/threads" : "/v2/deployments" },
      body: ["[", { repeat: "{},", times: 10 * TWO_MEBI }, "{}]"],
      encode: ["gzip"],
    }),
  ),
  {
    title: "62 MiB of empty ResourceSpans in 63 kB",
    surface: "otlp",
    server: "trace",
    input: {
      http: {
        server: "trace",
        caller: "key",
        method: "POST",
        target: "/otel/v1/traces",
        headers: [["content-type", "application/x-protobuf"]],
        encode: ["gzip"],
      },
      body: { pieces: [{ repeat: "\n\0", times: 16 * TWO_MEBI - 1 }] },
    },
  },
  {
    title: "two messages in a unary gRPC call",
    surface: "grpc",
    server: "trace",
    input: {
      caller: "key",
      path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
      headers: {},
      messages: [
        { flag: 0, length: null, body: { fields: [] } },
        { flag: 0, length: null, body: { fields: [] } },
      ],
      raw: null,
    },
  },
  http("a WebSocket handshake of a page without a name", "headers", {
    ...{ server: "control", caller: "key", method: "GET", target: "/info" },
    rawHead: [
      "origin: \r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n",
      "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ],
  }),
  http("HEAD of a route that calls another service", "paths", {
    ...{ server: "control", caller: "key", method: "HEAD" },
    target: "/%761/integrations/github/00000000-0000-7000-8000-000000000001/repos",
  }),
];
