import { expect, test } from "vitest";

import { isNestedDeeper, JsonStructure, parseJson } from "./json-structure.ts";

const MIB = 1024 * 1024;
const limit = { maxBytes: 64 * MIB, setting: "HEDDLE_MAX_BODY_BYTES" };

/** Returns weight and depth of a text that arrives in chunks of so many bytes. */
function count(text: string, chunk = text.length): { weight: number; depth: number } {
  const structure = new JsonStructure(limit);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunk) structure.add(bytes.subarray(at, at + chunk));
  const { weight, depth } = structure;
  return { weight, depth };
}

/** The same from the decoded value. */
function countValue(value: unknown, depth = 1): { weight: number; depth: number } {
  const total = { weight: 0, depth: depth - 1 };
  const names = new Set<string>();
  const orders = new Set<string>();
  const visit = (inner: unknown, at: number) => {
    total.depth = Math.max(total.depth, at - 1);
    if (typeof inner === "string") total.weight += 24;
    if (inner === null || typeof inner !== "object") return;
    total.depth = Math.max(total.depth, at);
    const values = Object.values(inner);
    total.weight += 64 + 16 * Math.max(0, values.length - 1);
    let order = "";
    for (const name of Array.isArray(inner) ? [] : Object.keys(inner)) {
      order += `${name}\n`;
      if (names.has(name) && !orders.has(order)) total.weight += 256;
      names.add(name);
      orders.add(order);
    }
    for (const each of values) visit(each, at + 1);
  };
  visit(value, depth);
  total.weight += 112 * names.size;
  return total;
}

const SAMPLES: Record<string, unknown> = {
  empty: {},
  "a number": 5,
  "nested lists": [[[], [1, 2]], [[["x"]]]],
  messages: {
    messages: [
      { role: "user", content: 'say "hi", {or} [not]: \\ ok?' },
      { role: "ai", content: "" },
    ],
  },
  "escapes at any place": ["\\", '"', '\\"', '\\\\"', "\n\t", "x".repeat(200) + '"' + "\\".repeat(99) + '"'],
  "long texts with quotes": ['"'.repeat(1000), `${"a".repeat(63)}"${"b".repeat(64)}\\`],
  "names that repeat": Array.from({ length: 50 }, (_, n) => ({ id: n, name: "n", [`own${n % 7}`]: null })),
  "names in other orders": [
    { a: 1, b: { a: 2, b: 3 } },
    { b: 1, a: { b: 2, a: 3 } },
    { a: 1, c: 2, b: 3 },
  ],
  "names beyond ASCII": { Größe: { 名前: ["😀", { "😀": "é" }] } },
};

test.each(Object.entries(SAMPLES))("counts what is decoded: %s", (_, value) => {
  for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    expect(count(text)).toEqual(countValue(value));
  }
});

test("chunks may end anywhere, within texts, escapes and characters", () => {
  for (const value of Object.values(SAMPLES)) {
    const text = JSON.stringify(value);
    for (const chunk of [1, 2, 3, 64, 65]) {
      const { weight, depth } = count(text, chunk);
      expect(depth).toBe(count(text).depth);
      // a name that arrives in two chunks may count twice
      expect(weight).toBeGreaterThanOrEqual(count(text).weight - 112 * 10);
      expect(weight).toBeLessThanOrEqual(count(text).weight + 112 * 60);
    }
  }
});

const TOO_MANY: Record<string, string> = {
  "empty objects": `[${"{},".repeat(2_000_000)}{}]`,
  "lists of lists": `[${"[[]],".repeat(1_000_000)}[]]`,
  nulls: `[${"null,".repeat(9_000_000)}null]`,
  "one-letter texts": `[${'"a",'.repeat(4_000_000)}"a"]`,
  "distinct names": `{${Array.from({ length: 1_100_000 }, (_, n) => `"${n.toString(36)}":1`).join(",")}}`,
  "objects with distinct names": `[${Array.from({ length: 750_000 }, (_, n) => `{"${n.toString(36)}":1}`).join(",")}]`,
  "long names": `{${Array.from({ length: 1_100_000 }, () => `"${"x".repeat(65)}":1`).join(",")}}`,
  "open lists": "[".repeat(2_200_000),
  "names in ever other orders": `[${Array.from({ length: 50_000 }, () => shuffled(20)).join(",")}]`,
};

function shuffled(count: number): string {
  const names = Array.from({ length: count }, (_, n) => String.fromCharCode(97 + n));
  for (let n = count - 1; n > 0; n--) {
    const other = Math.floor(Math.random() * (n + 1));
    [names[n], names[other]] = [names[other]!, names[n]!];
  }
  return `{${names.map((name) => `"${name}":1`).join(",")}}`;
}

test.each(Object.entries(TOO_MANY))("rejects %s before the text has arrived as a whole", (_, text) => {
  const structure = new JsonStructure(limit);
  const bytes = Buffer.from(text);
  let at = 0;
  const arrive = () => {
    for (; at < bytes.length; at += 65_536) structure.add(bytes.subarray(at, at + 65_536));
  };
  expect(arrive).toThrow(
    expect.objectContaining({ status: 413, message: expect.stringContaining("(HEDDLE_MAX_BODY_BYTES)") as string }),
  );
  expect(at).toBeLessThan(bytes.length - 65_536);
});

test("names whose hashes a caller makes equal count all the same", () => {
  const names = sameHash(14);
  expect(new Set(names).size).toBe(16_384);
  expect(count(`{${names.map((name) => `"${name}":1`).join(",")}}`).weight).toBeGreaterThan(112 * 16_000);
});

/** Returns 2^n names that have the same FNV-1a hash: for a hash without a seed, a caller can compute millions. */
function sameHash(n: number): string[] {
  let names = [""];
  // of the length, then the letters; a quote ends both
  let hash = 4 * n + 1;
  for (let block = 0; block < n; block++) {
    const seen = new Map<number, string>();
    for (let text = 0; ; text++) {
      const letters = [0, 1, 2, 3].map((at) => 35 + (Math.floor(text / 57 ** at) % 57));
      const next = letters.reduce((state, letter) => Math.imul(state ^ letter, 16_777_619), hash);
      const found = String.fromCharCode(...letters);
      const other = seen.get(next);
      seen.set(next, found);
      if (other === undefined) continue;
      names = names.flatMap((name) => [name + other, name + found]);
      hash = next;
      break;
    }
  }
  return names;
}

/** Honest bodies of 20 MB and more, which may compress to a hundredth or less. */
const HONEST: Record<string, () => string> = {
  "one long text": () => JSON.stringify({ input: "x".repeat(60 * MIB) }),
  "a text of quotes and backslashes": () => JSON.stringify({ input: '\\"'.repeat(10 * MIB) }),
  "the same runs again and again": () => JSON.stringify({ post: Array(30_000).fill(RUN) }),
  embeddings: () => JSON.stringify({ vectors: Array(2000).fill(Array(1536).fill(0.012_345_678_9)) }),
  "short chat messages": () => JSON.stringify(Array(300_000).fill({ role: "user", content: "yes, please do that" })),
  "rows with their own ids": () =>
    JSON.stringify(
      Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`row-${n}`, { text: "x".repeat(100) }])),
    ),
};
const RUN = {
  id: "0199c1f2-aaaa-7bbb-8ccc-000000000001",
  name: "ChatOpenAI",
  run_type: "llm",
  extra: { metadata: { ls_provider: "openai", thread_id: "t" }, invocation_params: { model: "gpt-4o", stop: null } },
  inputs: {
    messages: [[{ lc: 1, id: ["langchain", "schema", "HumanMessage"], kwargs: { content: "Hello", type: "human" } }]],
  },
  outputs: {
    generations: [[{ text: "Fine.", message: { kwargs: { content: "Fine.", usage_metadata: { total_tokens: 15 } } } }]],
  },
};

test.each(Object.entries(HONEST))("accepts %s", (_, make) => {
  expect(() => count(make(), 65_536)).not.toThrow();
});

test("parses fields within the limits, and names what is wrong", () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  expect(() => parseJson("{")).toThrow(SyntaxError);
  expect(() => parseJson("[".repeat(3000) + "]".repeat(3000))).toThrow(expect.objectContaining({ status: 422 }));
  expect(() => parseJson(`[${"{},".repeat(600_000)}{}]`)).toThrow(expect.objectContaining({ status: 413 }));
  expect(isNestedDeeper(`${"[".repeat(500)}1${"]".repeat(500)}`, 500)).toBe(false);
  expect(isNestedDeeper(`${"[".repeat(501)}1${"]".repeat(501)}`, 500)).toBe(true);
  expect(isNestedDeeper(`["${"[".repeat(2000)}"]`, 500)).toBe(false);
});
