import { expect, test } from "vitest";

import { findSimilar, groupNearDuplicates } from "./find-near-duplicates.ts";
import { normalisedText } from "./shingles.ts";

const at = (i: number, inputs: unknown) => ({ example_id: String(i), inputs });
const WORDS =
  "order refund invoice shipping address password account upgrade cancel payment card delivery late missing broken item color size store receipt".split(
    " ",
  );

/** Pseudo-random sentences; the same for the same number. */
function sentence(seed: number, words = 14): string {
  let state = seed * 2654435761;
  const list = [];
  for (let i = 0; i < words; i++) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + seed) >>> 0;
    list.push(`${WORDS[state % WORDS.length]}${state % 97}`);
  }
  return list.join(" ");
}

test("normalises case, punctuation, widths and the order of names", () => {
  expect(normalisedText({ b: "World!", a: ["Hello,  ", { x: 1.5 }] })).toBe("hello 1 5 world");
  expect(normalisedText({ a: "ＡＢＣ" })).toBe("abc");
  expect(normalisedText({ a: "…", b: null })).toBe("");
});

test("groups equal texts, small edits and reordered names, and no unlike ones", async () => {
  const question = "How do I cancel my subscription before the trial ends on Friday?";
  const groups = await groupNearDuplicates(
    [
      at(0, { question }),
      at(1, { question: "What is the capital of France?" }),
      at(2, { question: question.toUpperCase() }),
      at(3, { question: question.replace("Friday", "Monday") }),
      at(4, { question: "Tell me about the refund policy for orders from abroad." }),
      at(5, { question: "" }),
      at(6, {}),
    ],
    0.7,
  );
  expect(groups).toEqual([
    {
      members: [
        { example_id: "0", similarity: 1 },
        { example_id: "2", similarity: 1 },
        { example_id: "3", similarity: expect.closeTo(0.84, 0) },
      ],
    },
  ]);
});

const cpuMs = async (work: () => unknown): Promise<number> => {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
};

test("finds 200 planted duplicates and edits among 10,000 examples, in time that grows like their number", async () => {
  const examples = Array.from({ length: 10_000 }, (_, i) =>
    at(i, { messages: [{ role: "user", content: sentence(i + 1) }] }),
  );
  for (let i = 0; i < 200; i++) {
    const original = sentence(i + 1);
    // exact copies, and copies with a word replaced
    const words = original.split(" ");
    if (i % 2 === 1) words[i % words.length] = "other";
    examples[9000 + i] = at(9000 + i, { messages: [{ role: "user", content: words.join(" ") }] });
  }
  const few = await cpuMs(() => groupNearDuplicates(examples.slice(0, 2500), 0.6));
  let groups: Awaited<ReturnType<typeof groupNearDuplicates>> = [];
  const all = await cpuMs(async () => (groups = await groupNearDuplicates(examples, 0.6)));
  const pairs = new Set(groups.map(({ members }) => members.map((member) => member.example_id).join(" ")));
  const found = Array.from({ length: 200 }, (_, i) => `${i} ${9000 + i}`).filter((pair) => pairs.has(pair));
  expect(found.length).toBeGreaterThanOrEqual(198);
  expect(groups.length).toBeLessThanOrEqual(205);
  // four times as many examples
  expect(all / few).toBeLessThan(8);
  // the same data gives the same groups
  expect(await groupNearDuplicates(examples, 0.6)).toEqual(groups);
}, 20_000);

test("10,000 equal examples, and 10,000 of one template, take bounded time", async () => {
  const started = performance.now();
  const equal = await groupNearDuplicates(
    Array.from({ length: 10_000 }, (_, i) => at(i, { a: "same text here" })),
    0.7,
  );
  expect(equal).toMatchObject([{ members: { length: 10_000 } }]);
  const template = Array.from({ length: 10_000 }, (_, i) =>
    at(i, { q: `What is the weather in the city number ${i} going to be like tomorrow?` }),
  );
  await groupNearDuplicates(template, 0.99);
  expect(performance.now() - started).toBeLessThan(6000);
}, 30_000);

test("finds the most similar examples to a new one", async () => {
  const examples = [
    at(0, { q: "reset my password please" }),
    at(1, { q: "reset my passwords please" }),
    at(2, { q: "buy milk" }),
  ];
  expect(await findSimilar(examples, { q: "Reset my password, please!" }, 0.6, 5)).toMatchObject([
    { example_id: "0", similarity: 1 },
    { example_id: "1" },
  ]);
  expect(await findSimilar(examples, { q: "!" }, 0.6, 5)).toEqual([]);
});
