import { expect, test } from "vitest";

import { hasControlCharacter } from "./control-characters.ts";

test.each([
  "/a%0A",
  "/a%0d%0a/b",
  "/%00",
  "/a%7Fb",
  "/a%c2%85",
  "/a%E2%80%A8",
  "/%ff%0a",
  "http://x/a%0ab",
  "/%E2%80%A9?x",
])("%s contains a control character", (target) => expect(hasControlCharacter(target)).toBe(true));

test.each([
  "/",
  "/a%20b",
  "/caf%C3%A9",
  "/%C4%80",
  Buffer.from("/Ā—中").toString("latin1"),
  "/%250A",
  "/%ff",
  "/%0",
  "/a?x=%0A",
])("%s contains none", (target) => expect(hasControlCharacter(target)).toBe(false));
