/**
 * OTLP in protobuf, over HTTP and over gRPC: messages of the declared schema on the level of the wire format, with
 * unknown fields, wrong wire types, wrong lengths, groups, depth and emptiness; and gRPC's own frames.
 */
import { connect as connectHttp2 } from "node:http2";

import fc from "fast-check";
import protobuf from "protobufjs";

import { PROTO } from "../../../server/src/trace/otel/decode-protobuf.ts";
import type { Caller, HttpInput } from "../http-input.ts";
import { sizes } from "../json-values.ts";
import { encodePieces, type Piece, type Pieces } from "../pieces.ts";
import { type Outcome, runHttp, type Session, type Surface } from "../surface.ts";
import { callers } from "./json.ts";

/** A field as it is on the wire. `length`: the one that is written, where it is not the true one. */
interface Field {
  id: number;
  wire: number;
  /** A number in decimal digits, bytes, or a message. */
  value: string | Pieces | Field[];
  length?: number;
}

const { root } = protobuf.parse(PROTO);

/** Fields of a message by the schema, mostly right. */
function messages(name: string, depth = 0): fc.Arbitrary<Field[]> {
  const type = root.lookupType(name);
  const fields = type.fieldsArray.map((field) => {
    field.resolve();
    const { id, resolvedType, type: kind } = field;
    if (resolvedType instanceof protobuf.Type) {
      const inner = depth > 6 ? fc.constant<Field[]>([]) : messages(resolvedType.name, depth + 1);
      return inner.map((value): Field => ({ id, wire: 2, value }));
    }
    return scalars(kind).map(([wire, value]): Field => ({ id, wire, value }));
  });
  const odd: fc.Arbitrary<Field> = fc.oneof(
    fc.record({
      id: fc.constantFrom(1, 2, 15, 16, 99, 536_870_911, 0),
      wire: fc.integer({ min: 0, max: 7 }),
      value: fc.constantFrom<Pieces>([], ["x"], [{ hex: "ff" }]),
    }),
    fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      wire: fc.constant(2),
      value: fc.constantFrom<Pieces>([], ["x"]),
      length: fc.constantFrom(1, 100, 2 ** 31, 2 ** 32 - 1),
    }),
    fc
      .tuple(fc.integer({ min: 1, max: 6 }), sizes())
      .map(([id, times]): Field => ({ id, wire: 2, value: [{ repeat: "\n\0", times }] })),
    fc
      .tuple(fc.integer({ min: 1, max: 6 }), sizes())
      .map(([id, times]): Field => ({ id, wire: 2, value: [{ repeat: "*\u0002\n\0", times }] })),
  );
  const one =
    fields.length === 0 ? odd : fc.oneof({ weight: 12, arbitrary: fc.oneof(...fields) }, { weight: 1, arbitrary: odd });
  // what makes a span valid
  const identity: Field[] =
    name === "Span"
      ? [
          { id: 1, wire: 2, value: [{ hex: "0123456789abcdef0123456789abcdef" }] },
          { id: 2, wire: 2, value: [{ hex: "0123456789abcdef" }] },
          { id: 5, wire: 2, value: ["span"] },
          { id: 7, wire: 1, value: "1700000000000000000" },
          { id: 8, wire: 1, value: "1700000001000000000" },
        ]
      : [];
  return fc.array(one, { maxLength: depth < 2 ? 3 : 4 }).map((made) => [...identity, ...made]);
}

function scalars(kind: string): fc.Arbitrary<[wire: number, value: string | Pieces]> {
  if (kind === "string") {
    return fc
      .constantFrom<Pieces>(
        ["gen_ai.prompt"],
        ["langsmith.metadata.a"],
        ["x"],
        [],
        [{ hex: "c0af" }],
        [{ hex: "eda080" }],
        ["\0"],
        [{ repeat: "x", times: 100_000 }],
        ["__proto__"],
        ["langsmith.span.kind"],
        ['{"a":'],
        [{ repeat: "[", times: 20_000 }],
        ["gen_ai.usage.input_tokens"],
      )
      .map((value) => [2, value]);
  }
  if (kind === "bytes") {
    return fc
      .constantFrom<Pieces>(
        [],
        [{ hex: "00".repeat(16) }],
        [{ hex: "0123456789abcdef0123456789abcdef" }],
        [{ hex: "01" }],
        [{ repeat: "x", times: 50_000 }],
      )
      .map((value) => [2, value]);
  }
  const number = fc.constantFrom(
    "0",
    "1",
    "2",
    "2147483648",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551615",
    "1700000000000000000",
  );
  const wire = kind === "fixed64" || kind === "double" ? 1 : kind === "float" || kind === "fixed32" ? 5 : 0;
  return number.map((value) => [wire, value]);
}

export function encodeFields(fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(({ id, wire, value, length }) => {
      const tag = varint(BigInt(id) * 8n + BigInt(wire));
      if (typeof value === "string") {
        const number = BigInt(value);
        return [tag, wire === 1 ? fixed(number, 8) : wire === 5 ? fixed(number, 4) : varint(number)];
      }
      const content = isFields(value) ? encodeFields(value) : encodePieces(value);
      return wire === 2 ? [tag, varint(BigInt(length ?? content.length)), content] : [tag, content];
    }),
  );
}

const isFields = (value: Pieces | Field[]): value is Field[] =>
  value.length > 0 && typeof value[0] === "object" && "wire" in value[0];

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, value);
  for (; left > 0x7fn; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return Buffer.from(bytes);
}

function fixed(value: bigint, bytes: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt.asUintN(64, value));
  return buffer.subarray(0, bytes);
}

/** A message in itself, over and over: attributes of attributes. */
function nested(times: number, tag: number): Buffer {
  // written from the inside; lengths up to 127 take a byte, and so on
  const parts: Buffer[] = [];
  let length = 0;
  for (let n = 0; n < times; n++) {
    const head = Buffer.concat([Buffer.from([tag]), varint(BigInt(length))]);
    parts.push(head);
    length += head.length;
  }
  return Buffer.concat(parts.toReversed());
}

type ProtoBody = { fields: Field[] } | { pieces: Pieces } | { nested: number; tag: number };

const bodies = (): fc.Arbitrary<ProtoBody> =>
  fc.oneof(
    { weight: 10, arbitrary: messages("Request").map((fields) => ({ fields })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom<Piece>(
            "\n\0",
            "\n\u0002\u0012\0",
            "\n\u0004\u0012\u0002\u0012\0",
            "\u0012\0",
            "\u000b\u000c",
            "\x0b",
          ),
          sizes(),
        )
        .map(([piece, times]) => ({ pieces: [{ repeat: piece as string, times }] as Pieces })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(sizes(), fc.constantFrom(0x0a, 0x12, 0x2a, 0x32, 0x0b))
        .map(([times, tag]) => ({ nested: Math.min(times, 300_000), tag })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom<Pieces>(
          [],
          [{ hex: "ff" }],
          [{ hex: "ffffffffffffffffffff01" }],
          [{ hex: "0affffffff0f" }],
          ["{}"],
          [{ hex: "0a80808080808080808001" }],
        )
        .map((pieces) => ({ pieces })),
    },
  );

const encodeBody = (body: ProtoBody): Buffer =>
  "fields" in body
    ? encodeFields(body.fields)
    : "pieces" in body
      ? encodePieces(body.pieces)
      : nested(body.nested, body.tag);

interface OtlpInput {
  http: Omit<HttpInput, "body">;
  body: ProtoBody;
}

export const otlp: Surface<OtlpInput> = {
  name: "otlp",
  servers: ["trace"],
  weight: 3,
  inputs(_, server) {
    const inputs = fc
      .record({
        caller: callers(),
        body: bodies(),
        encode: fc.oneof(
          { weight: 3, arbitrary: fc.constant<("gzip" | "zstd")[]>([]) },
          { weight: 1, arbitrary: fc.constantFrom<("gzip" | "zstd")[]>(["gzip"], ["zstd"]) },
        ),
      })
      .map(({ caller, body, encode }): OtlpInput => ({
        http: {
          server,
          caller: caller === "stranger" ? "nobody" : caller,
          method: "POST",
          target: "/otel/v1/traces",
          headers: [["content-type", "application/x-protobuf"]],
          ...(encode.length > 0 && { encode }),
          operation: "POST /otel/v1/traces",
        },
        body,
      }));
    return () => inputs;
  },
  run: ({ http, body }, session) => runHttp({ ...http, body: [{ hex: encodeBody(body).toString("hex") }] }, session),
};

interface GrpcInput {
  caller: Caller;
  path: string;
  headers: Record<string, string>;
  /** The byte of each message that says whether it is compressed. */
  messages: { flag: number; length: number | null; body: ProtoBody }[];
  /** Bytes in place of messages. */
  raw: Pieces | null;
}

const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

export const grpc: Surface<GrpcInput> = {
  name: "grpc",
  servers: ["trace"],
  weight: 1,
  inputs() {
    const inputs = fc.record({
      caller: callers().map((caller): Caller => (caller === "stranger" ? "nobody" : caller)),
      path: fc.oneof(
        { weight: 8, arbitrary: fc.constant(EXPORT) },
        {
          weight: 1,
          arbitrary: fc.constantFrom("/", "/x", `${EXPORT}/`, "/__proto__", `${EXPORT}%00`, "/constructor"),
        },
      ),
      headers: fc.oneof(
        { weight: 6, arbitrary: fc.constant<Record<string, string>>({}) },
        {
          weight: 1,
          arbitrary: fc.constantFrom<Record<string, string>>(
            { "grpc-encoding": "gzip" },
            { "grpc-encoding": "zstd" },
            { "grpc-timeout": "1n" },
            { "content-type": "application/grpc+json" },
            { "content-type": "text/plain" },
            { "langsmith-project": "x".repeat(5000) },
            { "x-bin": "!!" },
            { "content-length": "5" },
            { te: "trailers" },
            { "content-encoding": "br" },
          ),
        },
      ),
      messages: fc.array(
        fc.record({
          flag: fc.oneof(
            { weight: 5, arbitrary: fc.constant(0) },
            { weight: 1, arbitrary: fc.constantFrom(1, 2, 255) },
          ),
          length: fc.option(fc.constantFrom(0, 1, 2 ** 31 - 1, 2 ** 32 - 1), { freq: 6 }),
          body: bodies(),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      raw: fc.option(fc.constantFrom<Pieces>([], [{ hex: "00" }], [{ hex: "00000000" }], [{ hex: "0000000000" }]), {
        freq: 10,
      }),
    });
    return () => inputs;
  },
  run: runGrpc,
};

const GRPC_MS = 20_000;
/** Statuses that say that the server is at fault, or does not know. */
const INTERNAL = new Set(["2", "13", "15"]);

function runGrpc({ caller, path, headers, messages: sent, raw }: GrpcInput, { world }: Session): Promise<Outcome> {
  const credentials = world.credentials("trace", caller);
  const session = connectHttp2(`http://127.0.0.1:${world.grpcPort}`);
  return new Promise((resolve) => {
    let status = "none";
    let message = "";
    const finish = (label: string): void => {
      clearTimeout(patience);
      session.destroy();
      // gRPC prescribes INTERNAL for it
      const isPrescribed = status === "13" && message === "a compressed message without grpc-encoding";
      const problem =
        INTERNAL.has(status) && !isPrescribed
          ? `gRPC status ${status}: ${message}`
          : label === "silent"
            ? "the call gets no status"
            : undefined;
      resolve({ label: `grpc ${label}`, problem });
    };
    const patience = setTimeout(() => finish("silent"), GRPC_MS);
    session.on("error", () => finish("rejected"));
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...(credentials && { "x-api-key": credentials.key, "x-tenant-id": credentials.workspaceId }),
      ...headers,
    });
    const read = (received: Record<string, unknown>): void => {
      status = String(received["grpc-status"] ?? status);
      message = String(received["grpc-message"] ?? message);
    };
    stream.on("response", (received) => {
      if (received[":status"] !== 200) status = `http ${received[":status"]}`;
      read(received);
    });
    stream.on("trailers", read);
    stream.on("error", () => {});
    stream.on("close", () => finish(status));
    stream.resume();
    if (raw) stream.end(encodePieces(raw));
    else {
      for (const { flag, length, body } of sent) {
        const content = encodeBody(body);
        const prefix = Buffer.alloc(5);
        prefix[0] = flag;
        prefix.writeUInt32BE(length ?? content.length, 1);
        stream.write(Buffer.concat([prefix, content]));
      }
      stream.end();
    }
  });
}
