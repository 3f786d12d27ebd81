import { expect, test } from "vitest";

import { multipartDelimiter } from "./read-multipart.ts";
import { type Portion, readPortions } from "./read-portions.ts";

const DELIMITER = multipartDelimiter("multipart/form-data; boundary=B");

const part = (name: string, content: string, declared = false) =>
  `\r\n--B\r\nContent-Disposition: form-data; name="${name}"\r\n${
    declared ? `Content-Length: ${content.length}\r\n` : ""
  }\r\n${content}`;
const END = "\r\n--B--\r\n";

async function* chunked(text: string, step: number): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  for (let at = 0; at < body.length; at += step) yield Promise.resolve(body.subarray(at, at + step));
}

async function read(text: string, step: number, maxBytes: number) {
  const portions: Portion[] = [];
  let kept = 0;
  for await (const portion of readPortions(
    chunked(text, step),
    DELIMITER,
    maxBytes,
    (bytes) => (kept = Math.max(kept, bytes)),
  ))
    portions.push(portion);
  return {
    kept,
    count: portions.length,
    parts: portions.flatMap(({ parts }) => parts.map(({ name, content }) => [name, content.toString()])),
    tooLarge: portions.flatMap(({ tooLarge }) => tooLarge),
  };
}

/** Content with what looks like the beginnings of delimiters. */
const CONTENTS = ["", "a", "\r\n--", "\r\n--A\r\n\r\n", "x".repeat(700), "-".repeat(90), "\r\n\r\n--".repeat(5)];
/** A delimiter that is content, as the part's length says. */
const ONLY_DECLARED = "\r\n--B\r\n\r\n".repeat(20);

test.each([1, 7, 64, 1000, 100_000])(
  "parts are the same however a body is divided, in chunks of %i bytes",
  async (step) => {
    for (const declared of [false, true]) {
      const contents = declared ? [...CONTENTS, ONLY_DECLARED] : CONTENTS;
      const sent = Array.from({ length: 40 }, (_, n) => [`p${n}`, contents[n % contents.length]!] as const);
      const text =
        sent
          .map(([name, content]) => part(name, content, declared))
          .join("")
          .slice(2) + END;
      for (const maxBytes of [1100, 3000, 1_000_000]) {
        const { parts, tooLarge, count } = await read(text, step, maxBytes);
        expect([declared, maxBytes, parts, tooLarge]).toEqual([declared, maxBytes, sent, []]);
        expect(count > 1).toBe(maxBytes < 1_000_000 && step < text.length);
      }
    }
  },
);

test("a part above the limit is skipped and named, and little of it is kept", async () => {
  const large = "y".repeat(50_000);
  for (const text of [
    part("a", "1") + part("large", large) + part("b", "2") + END,
    part("a", "1") + part("large", large, true) + part("b", "2") + END,
  ]) {
    for (const step of [64, 1000]) {
      const { parts, tooLarge, kept } = await read(text.slice(2), step, 2000);
      expect([parts, tooLarge]).toEqual([
        [
          ["a", "1"],
          ["b", "2"],
        ],
        ["large"],
      ]);
      expect(kept).toBeLessThan(4000);
    }
  }
  const last = await read((part("a", "1") + part("large", large) + END).slice(2), 500, 2000);
  expect([last.parts, last.tooLarge]).toEqual([[["a", "1"]], ["large"]]);
});

test.each([
  ["has no delimiter", "z".repeat(9000), 413],
  ["has headers without an end", `--B\r\nA: ${"z".repeat(40_000)}`, 413],
  ["ends within a large part", part("large", "y".repeat(9000)).slice(2), 400],
  ["ends within a part", (part("a", "y".repeat(1500)) + part("b", "y".repeat(1500))).slice(2), 400],
])("a body above the limit that %s is rejected", async (_, text, status) => {
  await expect(read(text, 100, 2000)).rejects.toMatchObject({ status });
});
