import { useEffect, useState } from "react";

/**
 * For dialogs that are mounted when they open: what had the focus before has it again when they are gone. Mantine's
 * own way needs a dialog that is there, closed, beforehand.
 */
export function useFocusBack(): void {
  // while the dialog is rendered first, before it takes the focus
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
