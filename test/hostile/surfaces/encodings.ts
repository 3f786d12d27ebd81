/**
 * Compressed and chunked bodies: bombs, several compressions, broken streams, headers that say something else.
 */
import fc from "fast-check";

import { compress, type Compression, type HttpInput } from "../http-input.ts";
import { sizes } from "../json-values.ts";
import { encodePieces, type Pieces } from "../pieces.ts";
import { runHttp, type Surface } from "../surface.ts";
import type { ServerName } from "../servers.ts";
import { callers } from "./json.ts";

const JSON_TYPE = "application/json";
const TARGETS: Record<string, readonly (readonly [method: string, target: string, type: string])[]> = {
  agent: [
    ["POST", "/threads", JSON_TYPE],
    ["PUT", "/store/items", JSON_TYPE],
    ["POST", "/runs/wait", JSON_TYPE],
    ["POST", "/mcp/", JSON_TYPE],
  ],
  trace: [
    ["POST", "/api/v1/runs/batch", JSON_TYPE],
    ["POST", "/api/v1/runs", JSON_TYPE],
    ["POST", "/api/v1/runs/query", JSON_TYPE],
    ["POST", "/api/v1/runs/multipart", "multipart/form-data; boundary=b"],
    ["POST", "/otel/v1/traces", "application/x-protobuf"],
    ["POST", "/otel/v1/traces", JSON_TYPE],
    ["POST", "/api/v1/login", JSON_TYPE],
    ["POST", "/api/v1/feedback/batch", JSON_TYPE],
  ],
  control: [
    ["POST", "/v2/deployments", JSON_TYPE],
    ["POST", "/v2/integrations/git", JSON_TYPE],
    ["POST", "/webhooks/github/00000000-0000-7000-8000-0000000000ff", JSON_TYPE],
  ],
};

/** Contents that cost more than their bytes, and some that do not. */
const content = (): fc.Arbitrary<Pieces> =>
  fc.oneof(
    fc.constantFrom<Pieces>([], ["{}"], ['{"post":[]}'], ["--b--\r\n"], [{ hex: "0a00" }]),
    fc
      .tuple(fc.constantFrom("{},", "[],", " ", "0,", "x", "[", '{"a":', '"x",'), sizes())
      .map(([repeat, times]): Pieces => ["[", { repeat, times }, "{}]"]),
    sizes().map((times): Pieces => [{ repeat: "\n\0", times }]),
    fc
      .tuple(fc.constantFrom("{}", "[]", '""'), sizes())
      .map(([repeat, times]): Pieces => ['{"post":[', { repeat: `${repeat},`, times }, "{}]}"]),
    // beyond every limit, of one byte
    fc.nat(3).map((n): Pieces => [{ repeat: " ", times: 48_000_000 * (n + 1) }]),
  );

interface Coded {
  layers: Compression[];
  header: string | undefined;
  damage: "none" | "cut" | "tail" | "twice" | "flip" | "plain";
}

const codings = (): fc.Arbitrary<Coded> =>
  fc.record({
    layers: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom<Compression>("gzip", "deflate", "zstd").map((kind) => [kind]) },
      { weight: 1, arbitrary: fc.array(fc.constantFrom<Compression>("gzip", "deflate", "zstd"), { maxLength: 4 }) },
    ),
    header: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          "gzip",
          "GZIP",
          "x-gzip",
          "deflate",
          "br",
          "zstd",
          "identity",
          "compress",
          "gzip, gzip",
          "",
          "*",
          "gzip;q=1",
          "\xff",
          "gzip,".repeat(500),
        ),
      },
    ),
    damage: fc.oneof(
      { weight: 5, arbitrary: fc.constant<Coded["damage"]>("none") },
      { weight: 1, arbitrary: fc.constantFrom<Coded["damage"]>("cut", "tail", "twice", "flip", "plain") },
    ),
  });

export interface EncodedInput {
  http: Omit<HttpInput, "body">;
  content: Pieces;
  coded: Coded;
  /** Sizes of chunks, in turn; none: with a length. */
  chunks: number[];
}

export const encodings: Surface<EncodedInput> = {
  name: "encodings",
  servers: ["agent", "trace", "control"],
  weight: 2,
  inputs(_, server) {
    const inputs = fc
      .record({
        caller: callers(),
        target: fc.constantFrom(...TARGETS[server]!),
        content: content(),
        coded: codings(),
        chunks: fc.oneof(
          { weight: 3, arbitrary: fc.constant<number[]>([]) },
          { weight: 1, arbitrary: fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 3 }) },
        ),
      })
      .map(({ caller, target: [method, target, type], ...rest }): EncodedInput => ({
        http: {
          server: server as ServerName,
          caller: caller === "stranger" ? "nobody" : caller,
          method,
          target,
          headers: [["content-type", type]],
        },
        ...rest,
      }));
    return () => inputs;
  },
  run: ({ http, content: pieces, coded, chunks }, session) => {
    const body = damage(encodeLayers(encodePieces(pieces), coded.layers), coded.damage);
    const name = coded.header ?? coded.layers.join(", ");
    const headers = [
      ...(http.headers ?? []),
      ...(name === "" && coded.header === undefined ? [] : ([["content-encoding", name]] as const)),
    ];
    if (chunks.length === 0) return runHttp({ ...http, headers, body: [{ hex: body.toString("hex") }] }, session);
    const framed = Buffer.concat([...inChunks(body, chunks), Buffer.from("0\r\n\r\n")]);
    return runHttp(
      { ...http, headers: [...headers, ["transfer-encoding", "chunked"]], body: [{ hex: framed.toString("hex") }] },
      session,
    );
  },
};

function encodeLayers(content: Buffer, layers: readonly Compression[]): Buffer {
  let body = content;
  for (const kind of layers) body = compress(body, kind);
  return body;
}

function damage(body: Buffer, kind: Coded["damage"]): Buffer {
  switch (kind) {
    case "none":
      return body;
    case "cut":
      return body.subarray(0, Math.floor(body.length * 0.7));
    case "tail":
      return Buffer.concat([body, Buffer.from("trailing garbage")]);
    case "twice":
      return Buffer.concat([body, body]);
    case "flip": {
      const copy = Buffer.from(body);
      if (copy.length > 0) copy[Math.floor(copy.length / 2)]! ^= 0xff;
      return copy;
    }
    case "plain":
      return Buffer.from("{}");
  }
}

function* inChunks(body: Buffer, lengths: readonly number[]): Iterable<Buffer> {
  // small chunks of a large body would only test the client
  const least = Math.ceil(body.length / 2000);
  for (let at = 0, n = 0; at < body.length; n++) {
    const part = body.subarray(at, at + Math.max(least, lengths[n % lengths.length]!));
    yield Buffer.from(`${part.length.toString(16)}\r\n`);
    yield part;
    yield Buffer.from("\r\n");
    at += part.length;
  }
}
