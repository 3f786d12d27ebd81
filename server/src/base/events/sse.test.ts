import { expect, test } from "vitest";

import { frameData, oneLine, sseFrame } from "./sse.ts";

const ENDS = ["\u0085", "\u2028", "\u2029"];

test.each(ENDS)("a frame is one line per field for clients that split at %j", (end) => {
  const value = { text: `a${end}b`, emoji: "✅ “quoted”" };
  const json = JSON.stringify(value);
  for (const data of [json, Buffer.from(json)]) {
    const frame = sseFrame(1, `updates|a${end}b`, data);
    // where Python's str.splitlines splits, besides control characters, which JSON escapes
    const lines = frame.toString().split(/[\n\r\u0085\u2028\u2029]/);
    expect(lines).toEqual([`event: updates|a b`, expect.stringMatching(/^data: \{/), "id: 1", "", ""]);
    expect(JSON.parse(lines[1]!.slice("data: ".length))).toEqual(value);
    expect(JSON.parse(frameData(frame).toString())).toEqual(value);
  }
});

test("other text is unchanged", () => {
  const json = '{"a":"✅ “–” \\u2028 é"}';
  expect(oneLine(json)).toBe(json);
  expect(sseFrame(undefined, "values", Buffer.from(json)).toString()).toBe(`event: values\ndata: ${json}\n\n`);
});
