import { Kbd, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useState } from "react";

import { notifyFailure } from "../ui/notify.ts";
import classes from "./go-to.module.css";

const load = () => import("./go-to.tsx");
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Opens a search for pages, and for threads or runs by id: Ctrl+K or ⌘K, also from within a field. */
export function GoToButton() {
  const [part, setPart] = useState<Awaited<ReturnType<typeof load>> | null>(null);
  // not by Suspense: without the server, the page stays
  const open = () => void load().then(setPart, notifyFailure("Could not open the search"));
  useHotkeys([["mod+K", open]], []);
  return (
    <>
      <UnstyledButton className={classes.button} onClick={open} aria-keyshortcuts="Control+K Meta+K">
        <IconSearch size={14} aria-hidden />
        <span className={classes.words}>Go to…</span>
        <VisuallyHidden>a page, a thread or a run</VisuallyHidden>
        <Kbd size="xs" className={classes.words} aria-hidden>
          {isMac ? "⌘K" : "Ctrl K"}
        </Kbd>
      </UnstyledButton>
      {part && <part.GoTo onClose={() => setPart(null)} />}
    </>
  );
}
