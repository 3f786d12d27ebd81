import { Skeleton } from "@mantine/core";
import { type ComponentProps, lazy, Suspense } from "react";

import type { JsonView } from "./json-view.tsx";

const View = lazy(async () => ({ default: (await import("./json-view.tsx")).JsonView }));

/** `JsonView` for pages that seldom need it: loaded on first use. */
export function LazyJson(props: ComponentProps<typeof JsonView>) {
  return (
    <Suspense fallback={<Skeleton height={60} />}>
      <View {...props} />
    </Suspense>
  );
}
