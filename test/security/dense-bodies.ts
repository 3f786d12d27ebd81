/**
 * Bodies of few bytes that would become millions of objects, or take long to decode: each with the route that it is sent
 * to. A caller with a key may send them.
 */
import { gzipSync } from "node:zlib";

const MIB = 1024 * 1024;

export interface DenseBody {
  method?: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | string;
  /** Statuses that tell the caller what is wrong; default: 413, or 422 for depth and counts. */
  answers?: number[];
}

const JSON_TYPE = { "content-type": "application/json" };
const PROTOBUF = { "content-type": "application/x-protobuf" };
const PACKED = { "content-encoding": "gzip" };

const gzip = (body: Buffer | string): Buffer => gzipSync(body, { level: 9 });
const filled = (bytes: number, pattern: string | number[]): Buffer =>
  Buffer.alloc(bytes, typeof pattern === "string" ? pattern : Buffer.from(pattern));
const jsonList = (bytes: number, item: string): Buffer =>
  Buffer.concat([Buffer.from("["), filled(bytes - (bytes % (item.length + 1)), `${item},`), Buffer.from(`${item}]`)]);
const inside = (name: string, list: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`{"${name}":`), list, Buffer.from("}")]);
const names = (count: number): string =>
  `{${Array.from({ length: count }, (_, n) => `"${n.toString(36)}":1`).join(",")}}`;

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(content.length)]), content]);
/** A request with one resource, scope and span, which contains these bytes. */
const inSpan = (content: Buffer): Buffer => field(1, field(2, field(2, content)));
const deep = (levels: number): Buffer => {
  let value: Buffer = Buffer.from([0x10, 0x01]);
  for (let level = 0; level < levels; level++) value = field(5, field(1, value));
  return value;
};

/** A zstd frame of one byte, repeated: 4 bytes for each 128 KiB. */
function zstdBomb(byte: string, bytes: number): Buffer {
  const blocks: Buffer[] = [];
  const size = 128 * 1024;
  for (let left = bytes; left > 0; left -= size) {
    const header = Buffer.alloc(3);
    header.writeUIntLE((size << 3) | (1 << 1) | (left <= size ? 1 : 0), 0, 3);
    blocks.push(header, Buffer.from(byte));
  }
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...blocks]);
}

function multipart(parts: { name: string; content: Buffer | string }[]): {
  headers: Record<string, string>;
  body: Buffer;
} {
  const head = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
  const chunks = parts.flatMap(({ name, content }) => [
    Buffer.from(head(name)),
    Buffer.from(content),
    Buffer.from("\r\n"),
  ]);
  return {
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: Buffer.concat([...chunks, Buffer.from("--b--\r\n")]),
  };
}

const ID = "00000000-0000-7000-8000-0000000000fe";
const upload = (name: string, content: Buffer | string) => {
  const { headers, body } = multipart([
    { name: "name", content: "dense" },
    { name: "input_keys", content: "a" },
    { name: "file", content },
  ]);
  const text = body.toString("latin1").replace('name="file"', `name="file"; filename="${name}"`);
  return { path: "/api/v1/datasets/upload", headers, body: Buffer.from(text, "latin1") };
};

const OTLP = "/otel/v1/traces";
const BATCH = "/runs/batch";

/** Bodies for the trace platform. */
export const TRACE: Record<string, () => DenseBody> = {
  "63 KB of empty resources": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(filled(62 * MIB, [0x0a, 0x00])),
  }),
  "empty spans": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(field(1, field(2, filled(60 * MIB, [0x12, 0x00])))),
  }),
  "a span of empty attributes": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(inSpan(filled(60 * MIB, [0x4a, 0x00]))),
  }),
  "a span of empty links": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(inSpan(filled(60 * MIB, [0x6a, 0x00]))),
  }),
  "a list of empty values": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(inSpan(field(9, field(2, field(5, filled(60 * MIB, [0x0a, 0x00])))))),
  }),
  "nested lists of values": () => ({
    path: OTLP,
    headers: PROTOBUF,
    body: inSpan(field(9, field(2, deep(5000)))),
    answers: [422],
  }),
  "nested groups": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(inSpan(filled(60 * MIB, [0xa3, 0x06]))),
    answers: [400],
  }),
  // what the schema does not have is skipped: nothing is stored, and nothing is wrong
  "unknown fields": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(filled(60 * MIB, [0x7a, 0x00])),
    answers: [200],
  }),
  "a packed field": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(field(99, filled(60 * MIB, [0x01]))),
    answers: [200],
  }),
  "a large resource of many spans": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(
      field(
        1,
        Buffer.concat([
          field(1, field(1, Buffer.concat([field(1, Buffer.from("k")), field(2, field(1, filled(200_000, "x")))]))),
          field(2, Buffer.concat(Array.from({ length: 40_000 }, () => field(2, Buffer.alloc(0))))),
        ]),
      ),
    ),
  }),
  "OTLP in JSON": () => ({
    path: OTLP,
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(inside("resourceSpans", jsonList(60 * MIB, "{}"))),
  }),
  "JSON in a text of OTLP": () => ({
    path: OTLP,
    headers: { ...PROTOBUF, ...PACKED },
    body: gzip(
      inSpan(
        Buffer.concat([
          field(1, filled(16, [1])),
          field(2, filled(8, [2])),
          field(9, Buffer.concat([field(1, Buffer.from("input.value")), field(2, field(1, jsonList(50 * MIB, "{}")))])),
        ]),
      ),
    ),
  }),
  "60 MiB of empty objects": () => ({
    path: BATCH,
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(jsonList(60 * MIB, "{}")),
  }),
  "a batch of empty runs": () => ({
    path: BATCH,
    headers: JSON_TYPE,
    body: inside("post", jsonList(3 * MIB, "{}")),
  }),
  "a batch of nulls": () => ({
    path: BATCH,
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(inside("post", jsonList(5 * MIB, "null"))),
  }),
  "a batch twice": () => ({
    path: BATCH,
    headers: JSON_TYPE,
    body: Buffer.concat([Buffer.from('{"post":'), jsonList(3 * MIB, "{}"), Buffer.from(',"post":[]}')]),
  }),
  "lists of lists": () => ({
    path: "/runs",
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(inside("inputs", jsonList(60 * MIB, "[[]]"))),
  }),
  "one object with a million names": () => ({
    path: "/runs",
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(`{"extra":{"metadata":${names(1_300_000)}}}`),
  }),
  // one value, however many escapes
  "a text of escapes": () => ({
    path: "/runs",
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(
      Buffer.concat([Buffer.from('{"run_type":"'), filled(6 * 7_000_000, String.raw`\u0000`), Buffer.from('"}')]),
    ),
    answers: [422],
  }),
  "a dotted order of dots": () => ({
    path: "/runs",
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(Buffer.concat([Buffer.from('{"dotted_order":"'), filled(60 * MIB, "."), Buffer.from('"}')])),
    answers: [400],
  }),
  "a zstd bomb": () => ({
    path: BATCH,
    headers: { ...JSON_TYPE, "content-encoding": "zstd" },
    body: zstdBomb("[", 60 * MIB),
  }),
  "gzip in gzip": () => ({
    path: BATCH,
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(gzip(jsonList(60 * MIB, "{}"))),
    answers: [400],
  }),
  "100,000 parts": () => ({
    path: "/runs/multipart",
    ...multipart(Array.from({ length: 100_000 }, () => ({ name: "feedback.x", content: "{" }))),
    answers: [422],
  }),
  "parts of empty objects": () => ({
    path: "/runs/multipart",
    ...multipart([{ name: `post.${ID}`, content: inside("inputs", jsonList(30 * MIB, "{}")) }]),
  }),
  "many invalid parts": () => ({
    path: "/runs/multipart",
    ...multipart(Array.from({ length: 49_000 }, (_, n) => ({ name: `feedback.${n}`, content: "{}" }))),
    answers: [422],
  }),
  "examples of nulls": () => ({
    path: "/api/v1/examples/bulk",
    headers: JSON_TYPE,
    body: jsonList(5 * MIB, "null"),
  }),
  "feedback without fields": () => ({
    path: "/api/v1/runs/query",
    headers: JSON_TYPE,
    body: inside("session", jsonList(5 * MIB, "1")),
  }),
  "an example's part of empty objects": () => ({
    path: `/api/v1/platform/datasets/${ID}/examples`,
    ...multipart([{ name: ID, content: inside("metadata", jsonList(30 * MIB, "{}")) }]),
    answers: [404, 413],
  }),
  "a CSV of commas": () => ({ ...upload("a.csv", filled(40 * MIB, ",")) }),
  "a CSV of line breaks in quotes": () => ({
    ...upload("a.csv", Buffer.concat([Buffer.from('a\n"'), filled(20 * MIB, "\n"), Buffer.from('"\n')])),
    answers: [200, 413, 422],
  }),
  "lines without JSON": () => ({ ...upload("a.jsonl", filled(40 * MIB, "\n")), answers: [200, 409] }),
  "lines of empty objects": () => ({ ...upload("a.jsonl", filled(40 * MIB, "{}\n")) }),
  "a deep filter": () => ({
    path: "/api/v1/runs/query",
    headers: JSON_TYPE,
    body: JSON.stringify({ filter: "not(".repeat(15_000) + ")".repeat(15_000) }),
    answers: [400, 422],
  }),
};

/** Bodies for an agent server. */
export const AGENT: Record<string, () => DenseBody> = {
  "empty objects": () => ({
    path: "/runs/wait",
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(jsonList(60 * MIB, "{}")),
  }),
  "an input of lists": () => ({
    path: "/runs/wait",
    headers: { ...JSON_TYPE, "content-encoding": "deflate" },
    body: gzip(inside("input", jsonList(60 * MIB, "[]"))),
    answers: [400, 413],
  }),
  "a batch of nulls": () => ({ path: "/runs/batch", headers: JSON_TYPE, body: jsonList(5 * MIB, "null") }),
  "a million names": () => ({ path: "/threads", headers: JSON_TYPE, body: `{"metadata":${names(1_300_000)}}` }),
  "a list for a text": () => ({
    path: "/threads/search",
    headers: JSON_TYPE,
    body: inside("ids", jsonList(5 * MIB, '"x"')),
  }),
  "a deep input": () => ({
    path: "/runs/wait",
    headers: JSON_TYPE,
    body: `{"input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    answers: [422],
  }),
  "a path of dots": () => ({
    path: "/threads/search",
    headers: JSON_TYPE,
    body: `{"extract":{"a":"values${".a".repeat(5_000_000)}"}}`,
    answers: [422],
  }),
  "an MCP message": () => ({
    path: "/mcp/",
    headers: { ...JSON_TYPE, accept: "application/json, text/event-stream" },
    body: jsonList(20 * MIB, "{}"),
    // an error of JSON-RPC
    answers: [200],
  }),
  "store operations": () => ({
    path: "/store/items",
    method: "PUT",
    headers: JSON_TYPE,
    body: inside("namespace", jsonList(5 * MIB, "1")),
  }),
};

/** Bodies for a control plane. */
export const CONTROL: Record<string, () => DenseBody> = {
  "empty objects": () => ({
    path: "/v2/deployments",
    headers: { ...JSON_TYPE, ...PACKED },
    body: gzip(jsonList(7 * MIB, "{}")),
  }),
  "secrets without fields": () => ({
    path: "/v2/deployments",
    headers: JSON_TYPE,
    body: inside("secrets", jsonList(1 * MIB, "{}")),
  }),
  "a deep source": () => ({
    path: "/v2/deployments",
    headers: JSON_TYPE,
    body: `{"source_config":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    answers: [422],
  }),
};
