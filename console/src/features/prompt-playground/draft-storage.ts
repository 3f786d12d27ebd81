/**
 * Keeps the draft and the last tries in the browser, so that they survive a reload: one draft for each workspace and
 * user, and the one before it. Drafts name connections; they hold no keys.
 */
import type { Draft } from "./draft.ts";
import type { Try } from "./tries.ts";

/** Limit in characters; browsers keep about 5 million for an origin. Images are most of a large draft. */
export const MAX_DRAFT_LENGTH = 1_000_000;

export interface StoredDraft {
  /** What was opened: `run:<id>`, `prompt:<owner>/<repo>:<commit>`, or empty. */
  source: string;
  draft: Draft;
  tries: Try[];
}

type Place = Pick<Storage, "getItem" | "setItem" | "removeItem">;
export type Slot = "current" | "previous";

const key = (owner: string, slot: Slot) => `heddle.prompt-draft.${slot}.${owner}`;

/** Returns null for none, and for one that another version of the console wrote. */
export function loadDraft(storage: Place, owner: string, slot: Slot = "current"): StoredDraft | null {
  try {
    const stored = JSON.parse(storage.getItem(key(owner, slot)) ?? "null") as StoredDraft | null;
    const isUsable = stored?.draft?.version === 1 && stored.draft.prompts.length > 0 && stored.draft.columns.length > 0;
    return isUsable ? stored : null;
  } catch {
    return null;
  }
}

/** Returns whether the draft was kept: a larger one than the limit, or than the browser allows, is not. */
export function saveDraft(storage: Place, owner: string, stored: StoredDraft, slot: Slot = "current"): boolean {
  const text = JSON.stringify(stored);
  try {
    if (text.length <= MAX_DRAFT_LENGTH) {
      storage.setItem(key(owner, slot), text);
      return true;
    }
  } catch {
    // the browser's quota
  }
  // an older state would come back after a reload
  discardDraft(storage, owner, slot);
  return false;
}

export const discardDraft = (storage: Place, owner: string, slot: Slot = "current"): void =>
  storage.removeItem(key(owner, slot));
