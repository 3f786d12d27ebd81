import { createFileRoute } from "@tanstack/react-router";

import { Playground } from "../../features/playground/playground.tsx";
import { prefetchPlayground } from "../../features/playground/prefetch.ts";
import { readPlace } from "../../features/playground/read-place.ts";

export const Route = createFileRoute("/_shell/a/$server/playground")({
  validateSearch: readPlace,
  loaderDeps: ({ search: { assistant, thread } }) => ({
    ...(assistant !== undefined && { assistant }),
    ...(thread !== undefined && { thread }),
  }),
  loader: ({ context, params, deps }) => prefetchPlayground(context.queryClient, params.server, deps),
  component: Playground,
});
