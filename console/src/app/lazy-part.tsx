import type { ComponentType } from "react";

import { useLoaded } from "../ui/use-loaded.ts";

/** Renders a component that is loaded after the first page. */
export function LazyPart({ load }: { load: () => Promise<{ Part: ComponentType }> }) {
  const loaded = useLoaded(load);
  return loaded && <loaded.Part />;
}
