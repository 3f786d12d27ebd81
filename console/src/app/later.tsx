import type { ComponentType } from "react";

import { useLoaded } from "../ui/use-loaded.ts";

/** Draws what is loaded after the first page is there. */
export function Later({ load }: { load: () => Promise<{ Part: ComponentType }> }) {
  const loaded = useLoaded(load);
  return loaded && <loaded.Part />;
}
