import { Kbd, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";

import classes from "./go-to.module.css";

const GoTo = lazy(async () => ({ default: (await import("./go-to.tsx")).GoTo }));
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Opens a search for pages, and for threads or runs by id: Ctrl+K or ⌘K, also from within a field. */
export function GoToButton() {
  const [isOpen, setOpen] = useState(false);
  useHotkeys([["mod+K", () => setOpen(true)]], []);
  return (
    <>
      <UnstyledButton className={classes.button} onClick={() => setOpen(true)} aria-keyshortcuts="Control+K Meta+K">
        <IconSearch size={14} aria-hidden />
        <span className={classes.words}>Go to…</span>
        <VisuallyHidden>a page, a thread or a run</VisuallyHidden>
        <Kbd size="xs" className={classes.words} aria-hidden>
          {isMac ? "⌘K" : "Ctrl K"}
        </Kbd>
      </UnstyledButton>
      {isOpen && (
        <Suspense>
          <GoTo onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
