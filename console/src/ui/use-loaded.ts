import { useEffect, useState } from "react";

/**
 * Loads code that a page needs a moment later; null until it is loaded. Not by Suspense: after a fallback, even an
 * empty one, React delays everything else that was waiting by 300 ms, so that fallbacks do not flicker.
 * @param load the same function each time
 */
export function useLoaded<T>(load: () => Promise<T>): T | null {
  const [state, setState] = useState<{ part: T } | { error: unknown } | null>(null);
  useEffect(() => {
    let isGone = false;
    void load().then(
      (part) => !isGone && setState({ part }),
      (error: unknown) => !isGone && setState({ error }),
    );
    return () => void (isGone = true);
  }, [load]);
  if (state && "error" in state) throw state.error;
  return state?.part ?? null;
}
