import { type ComponentType, useEffect, useState } from "react";

/**
 * Draws what is loaded after the first page is there. Not by Suspense: after a fallback, even an empty one, React
 * holds back whatever else was waiting for 300 ms, so that fallbacks do not flicker.
 */
export function Later({ load }: { load: () => Promise<ComponentType> }) {
  const [part, setPart] = useState<{ Part: ComponentType } | null>(null);
  useEffect(() => {
    let isGone = false;
    void load().then(
      (Part) => !isGone && setPart({ Part }),
      () => {},
    );
    return () => void (isGone = true);
  }, [load]);
  return part && <part.Part />;
}
