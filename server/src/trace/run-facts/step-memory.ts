import { createHash } from "node:crypto";

import { BoundedMemory } from "../../base/bounded-memory.ts";

/** Returns a short key for what determines a text. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("base64");

/** Characters of texts and keys, over all tenants. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Remembers texts by keys that determine them: answers over copies, which never change. */
export class StepMemory extends BoundedMemory<string> {
  constructor() {
    super(MAX_CHARACTERS);
  }
}
