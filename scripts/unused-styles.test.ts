import { expect, test } from "vitest";

import { pruned } from "./unused-styles.mjs";

const used = new Set(["m_aaaaaaaa"]);

test("rules of components that no page has are gone, all others stay as they are", () => {
  const kept = ".m_aaaaaaaa{color:red}:root{--x:1}a:hover{b:c}@keyframes m_bbbbbbbb{to{x:y}}@font-face{src:url(x)}";
  expect(pruned(`${kept}.m_bbbbbbbb{color:red}.m_bbbbbbbb:hover>.m_cccccccc{x:y}`, used)).toBe(kept);
});

test("of a rule's selectors the used ones stay, brackets are no ends", () => {
  expect(pruned(".m_bbbbbbbb,.m_aaaaaaaa:where(.x,.y),div{x:y}", used)).toBe(".m_aaaaaaaa:where(.x,.y),div{x:y}");
  expect(pruned(".m_aaaaaaaa:not(.m_bbbbbbbb){x:y}", used)).toBe(".m_aaaaaaaa:not(.m_bbbbbbbb){x:y}");
});

test("media queries are gone when they are empty; braces in texts are no blocks", () => {
  expect(pruned("@media print{.m_bbbbbbbb{x:y}}@media print{.m_aaaaaaaa{x:y}}", used)).toBe(
    "@media print{.m_aaaaaaaa{x:y}}",
  );
  expect(pruned('@charset "utf-8";.m_aaaaaaaa{content:"}{"}.m_bbbbbbbb{content:"}"}', used)).toBe(
    '@charset "utf-8";.m_aaaaaaaa{content:"}{"}',
  );
  expect(() => pruned(".m_aaaaaaaa{x:y", used)).toThrow(/does not end/);
});
