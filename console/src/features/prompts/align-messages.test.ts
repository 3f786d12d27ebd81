import { expect, test } from "vitest";

import { alignMessages } from "./align-messages.ts";
import type { PromptMessage, Role } from "./manifest.ts";

const message = (role: Role, text: string): PromptMessage => ({
  kind: "template",
  role,
  label: role,
  parts: [{ kind: "text", text, format: "f-string" }],
  source: null,
});
const brief = (before: PromptMessage[], after: PromptMessage[]) =>
  alignMessages(before, after).map((pair) =>
    [pair.before, pair.after].map((one) =>
      one?.kind === "template" && one.parts[0]?.kind === "text" ? one.parts[0].text : "–",
    ),
  );

test("matches messages of the same role in order", () => {
  const [system, human] = [message("system", "a"), message("human", "b")];
  expect(brief([system, human], [message("system", "A"), message("human", "B")])).toEqual([
    ["a", "A"],
    ["b", "B"],
  ]);
  expect(brief([system, human], [system, message("human", "new"), human])).toEqual([
    ["a", "a"],
    ["–", "new"],
    ["b", "b"],
  ]);
  expect(brief([system], [human])).toEqual([
    ["a", "–"],
    ["–", "b"],
  ]);
  expect(brief([], [])).toEqual([]);
});
