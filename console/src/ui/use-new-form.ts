import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Whether the page opens its form for a new object, as the palette's actions want. */
    isNew?: boolean;
  }
}

/** Whether a page's form for a new object is open: by its button, or by an action of the palette. */
export function useNewForm(): [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const isWanted = useRouterState({ select: ({ location }) => location.state.isNew === true });
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isWanted) return;
    setOpen(true);
    // a reload does not open it again
    void navigate({ to: ".", search: true, state: { isNew: false }, replace: true } as never);
  }, [isWanted]);
  return [isOpen, setOpen];
}
