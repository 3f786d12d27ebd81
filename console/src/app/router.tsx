import { createRouter } from "@tanstack/react-router";

import { BASE_PATH } from "../api/base-path.ts";
import { routeTree } from "../route-tree.gen.ts";
import { Problem } from "../ui/problem.tsx";
import { NotFound } from "../ui/not-found.tsx";
import { queryClient } from "./query-client.ts";

export const router = createRouter({
  routeTree,
  basepath: BASE_PATH || "/",
  context: { queryClient },
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} onRetry={reset} />,
  defaultNotFoundComponent: NotFound,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
