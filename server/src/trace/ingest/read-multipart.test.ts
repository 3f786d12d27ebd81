import fc from "fast-check";
import { expect, test } from "vitest";

import { readMultipart } from "./read-multipart.ts";

const BOUNDARY = "----x";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const part = (name: string, content: string, header = "") =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n${header}\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;
const read = (body: string, type = TYPE) => readMultipart(type, Buffer.from(body));

test("keeps the bytes of parts and the quotes of names, and accepts quoted boundaries", () => {
  const body = `${part("a", "one\r\n")}${part("b", "")}${part('say \\"c\\"', "x".repeat(100_000))}${END}`;
  const parts = read(body, `multipart/form-data; charset=utf-8; boundary="${BOUNDARY}"`);
  expect(parts.map(({ name, content }) => [name, content.length])).toEqual([
    ["a", 5],
    ["b", 0],
    ['say "c"', 100_000],
  ]);
});

test("reads file names, types without parameters, names beyond ASCII, and skips a preamble", () => {
  const header = "content-TYPE: Text/CSV; charset=utf-8\r\n";
  const body = `to be ignored\r\n${part('f"; filename="ü.csv', "1,2", header)}${END}to be ignored`;
  expect(read(body)).toEqual([
    {
      name: "f",
      filename: "ü.csv",
      type: "text/csv",
      content: Buffer.from("1,2"),
    },
  ]);
});

test("a part with a declared length may contain the boundary", () => {
  const content = `x\r\n--${BOUNDARY}\r\ny`;
  for (const header of [`Content-Length: ${content.length}\r\n`, `Content-Type: a/b; length=${content.length}\r\n`]) {
    expect(read(part("a", content, header) + END)[0]!.content.toString()).toBe(content);
  }
});

test("returns the exact bytes of all parts", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (contents) => {
      const chunks = contents.flatMap((content, i) => [
        Buffer.from(
          `--${BOUNDARY}\r\nContent-Disposition: form-data; name=p${i}\r\nContent-Length: ${content.length}\r\n\r\n`,
        ),
        content,
        Buffer.from("\r\n"),
      ]);
      const parts = readMultipart(TYPE, Buffer.concat([...chunks, Buffer.from(END)]));
      expect(parts.map((part) => Uint8Array.from(part.content))).toEqual(
        contents.map((content) => Uint8Array.from(content)),
      );
    }),
  );
});

test.each([
  ["ends within a part", part("a", "long enough").slice(0, -6), 400],
  ["ends within headers", `--${BOUNDARY}\r\nContent-Disposition`, 400],
  ["ends without its last boundary", part("a", "x"), 400],
  ["is empty", "", 400],
  ["is of another boundary", "--y\r\n\r\n", 400],
  ["has a part without a name", `--${BOUNDARY}\r\nA: b\r\n\r\nx\r\n${END}`, 400],
  ["has a part without headers", `--${BOUNDARY}\r\n\r\nx\r\n${END}`, 400],
  ["has a part of another length", part("a", "xy", "Content-Length: 5\r\n") + END, 400],
  ["has a compressed part", part("a", "xy", "Content-Encoding: gzip\r\n") + END, 400],
])("rejects a body that %s", (_, body, status) => {
  expect(() => read(body)).toThrow(expect.objectContaining({ status }));
});

test("rejects another content type", () => {
  expect(() => read(END, "application/json")).toThrow(expect.objectContaining({ status: 415 }));
});
