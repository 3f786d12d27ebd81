import { useDebouncedCallback } from "@mantine/hooks";
import { useEffect, useReducer, useState } from "react";

import { type Draft, reduceDraft } from "./draft.ts";
import { discardDraft, saveDraft } from "./draft-storage.ts";
import type { Try } from "./tries.ts";

const SAVE_MS = 300;

/** Holds the draft and the tries, and keeps them in the browser. */
export function useDraft(owner: string, source: string, opened: Draft, before: Try[]) {
  const [draft, dispatch] = useReducer(reduceDraft, opened);
  const [tries, setTries] = useState(before);
  const [isKept, setKept] = useState(true);
  const save = useDebouncedCallback(
    () => {
      if (draft.isEdited || tries.length > 0) setKept(saveDraft(localStorage, owner, { source, draft, tries }));
    },
    { delay: SAVE_MS, flushOnUnmount: true },
  );
  useEffect(save, [draft, tries, owner, source]);
  // a reload does not unmount
  useEffect(() => {
    const flush = () => save.flush();
    window.addEventListener("pagehide", flush);
    return () => window.removeEventListener("pagehide", flush);
  }, [save]);
  const discard = () => {
    save.cancel();
    discardDraft(localStorage, owner);
  };
  return { draft, dispatch, tries, setTries, isKept, discard };
}
