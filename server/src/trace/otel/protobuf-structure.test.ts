import { expect, test } from "vitest";

import type { Structure } from "../../base/json-structure.ts";
import { protobufCodec } from "./decode-protobuf.ts";

const { structure, decode, spans } = protobufCodec();
const MIB = 1024 * 1024;
const limit = { maxBytes: 64 * MIB, setting: "HEDDLE_TRACE_MAX_BODY_BYTES" };

/** Field of a message: a tag, a length, and the content. */
function field(number: number, ...content: (Buffer | string)[]): Buffer {
  const whole = Buffer.concat(content.map((part) => Buffer.from(part as string)));
  return Buffer.concat([varint(number * 8 + 2), varint(whole.length), whole]);
}
const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
  return Buffer.from([...bytes, left]);
};
const repeat = (count: number, bytes: Buffer): Buffer => Buffer.alloc(count * bytes.length, bytes);
const text = (value: string) => field(1, value);
const pair = (key: string, value: Buffer) => field(9, field(1, key), field(2, value));
const ids = (n: number) =>
  Buffer.concat([field(1, Buffer.alloc(16, 1)), field(2, Buffer.from(n.toString(16).padStart(16, "1"), "hex"))]);
const span = (n: number, ...more: Buffer[]) => field(2, ids(n), field(5, `span ${n}`), ...more);
const request = (spans: Buffer[], resource = Buffer.alloc(0)) =>
  field(1, field(1, resource), field(2, field(1, field(1, "scope")), ...spans));

function count(body: Buffer, chunk = body.length): number {
  const counted: Structure = structure(limit);
  for (let at = 0; at < body.length; at += chunk) counted.add(body.subarray(at, at + chunk));
  return counted.weight;
}

const list = (...values: Buffer[]) => field(5, ...values.map((value) => field(1, value)));
const SAMPLE = request([
  span(1, pair("a", text("x")), pair("b", list(text("y"), text("z"))), field(11, field(2, "event"))),
  // fixed numbers, unknown fields, unknown groups and long varints are skipped
  span(
    2,
    Buffer.from([0x39, 1, 2, 3, 4, 5, 6, 7, 8, 0x50, 0xff, 0xff, 0x7f, 0x9d, 0x01, 1, 2, 3, 4]),
    field(100, repeat(50, Buffer.from([0x0a, 0x00]))),
    Buffer.from([0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06]),
  ),
]);
/** ResourceSpans, Resource, ScopeSpans, Scope, two spans; pairs, values and a list with its two, an event. */
const SAMPLE_WEIGHT = 6 * 256 + 32 * (2 + 2 + 1 + 2 + 1);

test("counts the messages of the schema, wherever the chunks end", () => {
  for (const chunk of [SAMPLE.length, 1, 2, 3, 7, 64])
    expect([chunk, count(SAMPLE, chunk)]).toEqual([chunk, SAMPLE_WEIGHT]);
  expect(decode(SAMPLE)).toMatchObject([
    { name: "span 1", attributes: { a: "x", b: ["y", "z"] }, events: [{ name: "event" }], scope: { name: "scope" } },
    { name: "span 2", attributes: {} },
  ]);
});

const EMPTY = Buffer.from([0x0a, 0x00]);
const HOSTILE: Record<string, Buffer> = {
  "empty resources": repeat(2_000_000, EMPTY),
  "empty scopes": field(1, repeat(2_000_000, Buffer.from([0x12, 0x00]))),
  "empty spans": field(1, field(2, repeat(2_000_000, Buffer.from([0x12, 0x00])))),
  "a span of empty attributes": request([span(1, repeat(500_000, Buffer.from([0x4a, 0x00])))]),
  "a span of empty events": request([span(1, repeat(500_000, Buffer.from([0x5a, 0x00])))]),
  "a list of empty values": request([span(1, pair("a", field(5, repeat(500_000, EMPTY))))]),
  "a resource of empty attributes": field(1, field(1, repeat(500_000, EMPTY))),
  "many spans with some attributes": request(
    Array.from({ length: 30_000 }, (_, n) => span(n, repeat(200, Buffer.from([0x4a, 0x00])))),
  ),
};

test.each(Object.entries(HOSTILE))("rejects %s before the body has arrived as a whole", (_, body) => {
  const counted = structure(limit);
  let at = 0;
  const arrive = () => {
    for (; at < body.length; at += 16_384) counted.add(body.subarray(at, at + 16_384));
  };
  expect(arrive).toThrow(expect.objectContaining({ status: 413 }));
  expect(at).toBeLessThan(body.length - 16_384);
});

test("rejects deeply nested values, in lists and in groups, without recursion", () => {
  let value = text("x");
  for (let level = 0; level < 1000; level++) value = list(value);
  expect(() => count(request([span(1, pair("a", value))]))).toThrow(expect.objectContaining({ status: 422 }));
  const groups = request([span(1, Buffer.alloc(2_000_000, Buffer.from([0xa3, 0x06])))]);
  expect(count(groups)).toBeLessThan(2000);
  expect(() => decode(groups)).toThrow(expect.objectContaining({ status: 400 }));
});

test("fields that the schema does not have, packed ones too, cost nothing", () => {
  const unknown = repeat(5_000_000, Buffer.from([0x7a, 0x00]));
  const packed = field(99, Buffer.alloc(8 * MIB, 1));
  expect(count(Buffer.concat([unknown, packed, SAMPLE]), 65_536)).toBe(SAMPLE_WEIGHT);
});

test("stops at malformed bytes, which the decoder reports", () => {
  for (const body of [
    repeat(1_000_000, Buffer.from([0xff])),
    Buffer.from([0x0e, 1]),
    Buffer.from([0x0a, 0x50, 0x12]),
  ]) {
    expect(count(body)).toBeLessThan(1000);
    expect(() => decode(body)).toThrow(expect.objectContaining({ status: 400 }));
  }
});

test("accepts honest requests: many spans, many attributes, long texts", () => {
  const attributes = Buffer.concat(Array.from({ length: 30 }, (_, n) => pair(`http.attribute.${n}`, text("value"))));
  const many = request(Array.from({ length: 16_384 }, (_, n) => span(n, attributes)));
  expect(many.length).toBeGreaterThan(14 * MIB);
  expect(() => count(many, 65_536)).not.toThrow();
  expect(() => count(request([span(1, pair("prompt", text("x".repeat(60 * MIB))))]))).not.toThrow();
});

test("rejects resources that would be stored with too many spans, and too many spans", () => {
  const resource = Buffer.concat([field(1, field(1, "k"), field(2, text("x".repeat(100_000))))]);
  const each = (count: number) => Array.from({ length: count }, (_, n) => span(n));
  const decodeAll = (body: Buffer) => [...spans(body, MIB)].length;
  expect(decodeAll(request(each(10), resource))).toBe(10);
  expect(() => decodeAll(request(each(11), resource))).toThrow(expect.objectContaining({ status: 413 }));
  expect(() => decodeAll(request(each(50_001)))).toThrow(expect.objectContaining({ status: 413 }));
});
