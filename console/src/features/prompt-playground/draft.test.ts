import { expect, test } from "vitest";

import { applyEvent, startAnswer, stopAnswer } from "./answer.ts";
import { activePrompt, type Draft, type DraftAction, MAX_COLUMNS, newDraft, reduceDraft } from "./draft.ts";
import { loadDraft, MAX_DRAFT_LENGTH, saveDraft } from "./draft-storage.ts";
import { newMessage } from "./prompt.ts";
import { addTry, MAX_TRIES } from "./tries.ts";

const apply = (draft: Draft, ...actions: DraftAction[]) => actions.reduce(reduceDraft, draft);
const texts = (draft: Draft) => activePrompt(draft).messages.map(({ content }) => content);

test("adds, moves, edits and removes messages", () => {
  const start = newDraft();
  const [system, human] = activePrompt(start).messages;
  const added = newMessage("ai", "three");
  const draft = apply(
    start,
    { type: "message", key: system!.key, change: { content: "one" } },
    { type: "message", key: human!.key, change: { content: "two" } },
    { type: "add-message", message: added, after: system!.key },
  );
  expect(texts(draft)).toEqual(["one", "three", "two"]);
  expect(draft.isEdited).toBe(true);
  const moved = apply(draft, { type: "move-message", key: added.key, by: 1 });
  expect(texts(moved)).toEqual(["one", "two", "three"]);
  expect(texts(apply(moved, { type: "move-message", key: added.key, by: 1 }))).toEqual(["one", "two", "three"]);
  expect(texts(apply(moved, { type: "remove-message", key: system!.key }))).toEqual(["two", "three"]);
});

test("a column on another model shares the prompt, and a column with a copy has its own", () => {
  let draft = apply(newDraft(), { type: "add-column", withPrompt: false });
  const [first, second] = draft.columns;
  expect(second!.promptKey).toBe(first!.promptKey);
  draft = apply(draft, { type: "add-column", withPrompt: true });
  const copy = activePrompt(draft);
  expect(draft.prompts).toHaveLength(2);
  draft = apply(draft, { type: "message", key: copy.messages[0]!.key, change: { content: "other" } });
  expect(draft.prompts.map(({ messages }) => messages[0]!.content)).toEqual(["", "other"]);
  draft = apply(draft, { type: "remove-column", key: draft.columns[2]!.key });
  expect(draft.prompts).toHaveLength(1);
  expect(activePrompt(draft).key).toBe(first!.promptKey);
});

test("has at least one column and at most eight", () => {
  let draft = newDraft();
  expect(apply(draft, { type: "remove-column", key: draft.columns[0]!.key }).columns).toHaveLength(1);
  for (let n = 0; n < 10; n++) draft = apply(draft, { type: "add-column", withPrompt: n % 2 === 0 });
  expect(draft.columns).toHaveLength(MAX_COLUMNS);
});

test("a change of the format rewrites templates, and leaves literal messages", () => {
  const start = newDraft();
  const [system, human] = activePrompt(start).messages;
  const draft = apply(
    start,
    { type: "message", key: system!.key, change: { content: "Hi {name}" } },
    { type: "message", key: human!.key, change: { content: "Hi {name}", isTemplate: false } },
    { type: "format", format: "mustache" },
  );
  expect(texts(draft)).toEqual(["Hi {{name}}", "Hi {name}"]);
});

function memory() {
  const held = new Map<string, string>();
  return {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
    removeItem: (key: string) => void held.delete(key),
  };
}

test("keeps a draft for each workspace and user, within a limit", () => {
  const storage = memory();
  const stored = { source: "", draft: newDraft(), tries: [] };
  expect(saveDraft(storage, "w1.u1", stored)).toBe(true);
  expect(loadDraft(storage, "w1.u1")).toEqual(stored);
  expect(loadDraft(storage, "w2.u1")).toBeNull();
  const large = apply(stored.draft, { type: "input", name: "x", value: "x".repeat(MAX_DRAFT_LENGTH) });
  expect(saveDraft(storage, "w1.u1", { ...stored, draft: large })).toBe(false);
  expect(loadDraft(storage, "w1.u1")).toBeNull();
  storage.setItem("heddle.prompt-draft.current.w1.u1", '{"draft":{"version":0}}');
  expect(loadDraft(storage, "w1.u1")).toBeNull();
  storage.setItem("heddle.prompt-draft.current.w1.u1", "{");
  expect(loadDraft(storage, "w1.u1")).toBeNull();
});

test("an answer collects its deltas, and its end replaces them", () => {
  const events = [
    { event: "start", data: { run_id: "r", project_id: "p", model: "m-1" } },
    { event: "delta", data: { text: "Hel" } },
    { event: "delta", data: { text: "lo", tool_call: { index: 0, id: "c", name: "find", args_text: '{"a"' } } },
    { event: "delta", data: { tool_call: { index: 0, args_text: ":1}" } } },
  ] as const;
  const streamed = events.reduce((answer, event) => applyEvent(answer, event, 1_250), startAnswer("m", 1_000));
  expect(streamed).toMatchObject({ text: "Hello", firstTokenMs: 250, model: "m-1", runId: "r" });
  expect(streamed.toolCalls).toEqual([{ id: "c", name: "find", args: '{"a":1}' }]);
  const end = {
    run_id: "r",
    message: { content: "Hello.", tool_calls: [{ id: "c", name: "find", args: { a: 1 } }] },
    structured: null,
    structured_error: null,
    usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
    cost: { total: "0.001" },
    latency_ms: 900,
    first_token_ms: 240,
    truncated: false,
  };
  const done = applyEvent(streamed, { event: "end", data: end }, 2_000);
  expect(done).toMatchObject({ status: "done", text: "Hello.", cost: "0.001", firstTokenMs: 240, latencyMs: 900 });
  expect(applyEvent(done, { event: "delta", data: { text: "late" } }, 3_000)).toBe(done);
  expect(stopAnswer(streamed, 1_500)).toMatchObject({ status: "stopped", latencyMs: 500, text: "Hello" });
});

test("lists the last tries, newest first", () => {
  let tries = addTry([], "A", { ...startAnswer("m", 0), text: "one\n\ntwo" });
  for (let n = 1; n <= MAX_TRIES; n++) tries = addTry(tries, "B", startAnswer(`m${n}`, n));
  expect(tries).toHaveLength(MAX_TRIES);
  expect(tries[0]).toMatchObject({ column: "B", model: `m${MAX_TRIES}` });
  expect(addTry([], "A", { ...startAnswer("m", 0), text: "one\n\ntwo" })[0]!.preview).toBe("one two");
});
