import { useCallback, useEffect, useRef, useState } from "react";

const COPIED_MS = 1500;

/** Copies text to the clipboard; `copied` is true for a moment afterwards. */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = useCallback((text: string) => {
    void write(text).then((done) => {
      if (!done) return;
      setCopied(true);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setCopied(false), COPIED_MS);
    });
  }, []);
  return { copied, copy };
}

/** @returns whether it succeeded */
async function write(text: string): Promise<boolean> {
  // browsers restrict it to HTTPS and localhost, and a console on a network is often neither
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (!clipboard) return writeSelected(text);
  return clipboard.writeText(text).then(
    () => true,
    () => writeSelected(text),
  );
}

/** Copies through a selection, the older way. */
function writeSelected(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  Object.assign(field.style, { position: "fixed", top: "0", opacity: "0" });
  // within a dialog, which traps the focus
  (before?.closest("[role=dialog]") ?? document.body).append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    before?.focus();
  }
}
