import { useEffect, useState } from "react";

/**
 * Returns the focus to the previous element when a dialog unmounts, for dialogs that are mounted when they open.
 * Mantine's own way requires a dialog that is mounted, closed, beforehand.
 */
export function useFocusBack(): void {
  // on the dialog's first render, before it takes the focus
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      setTimeout(() => {
        const isNowhere = document.activeElement === null || document.activeElement === document.body;
        if (isNowhere && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
      });
    },
    [before],
  );
}
