import { expect, test } from "vitest";

import { readMultipart } from "./read-multipart.ts";

const BOUNDARY = "----x";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const part = (name: string, content: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const BODY = `${part("a", "one\r\n")}${part("b", "")}${part("c", "x".repeat(100_000))}--${BOUNDARY}--\r\n`;

async function* pieces(size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < BODY.length; at += size) yield Buffer.from(BODY.slice(at, at + size));
}

test.each([1, 7, 50, 1000, 65_536, BODY.length])(
  "no part is lost when the body comes in pieces of %i bytes",
  async (size) => {
    const parts = await readMultipart(TYPE, pieces(size));
    expect(parts.map(({ name, content }) => [name, content.length])).toEqual([
      ["a", 5],
      ["b", 0],
      ["c", 100_000],
    ]);
  },
);

test("a body that ends too early is refused", async () => {
  async function* cut() {
    yield Buffer.from(BODY.slice(0, 50_000));
  }
  await expect(readMultipart(TYPE, cut())).rejects.toMatchObject({ status: 400 });
});
