import { createRouter } from "@tanstack/react-router";

import { PREFIX } from "../api/prefix.ts";
import { routeTree } from "../route-tree.gen.ts";
import { Problem } from "../ui/problem.tsx";
import { NotFound } from "../ui/not-found.tsx";
import { queryClient } from "./query-client.ts";
import { isLostFile } from "./reload-when-replaced.ts";

export const router = createRouter({
  routeTree,
  context: { queryClient },
  basepath: PREFIX || "/",
  // loads code and data of a link that the reader points at; not of those that the pointer crosses
  defaultPreload: "intent",
  defaultPreloadDelay: 100,
  scrollRestoration: true,
  defaultErrorComponent: ({ error, reset }) =>
    isLostFile(error) ? (
      <Problem
        error={new Error("The server did not respond while a part of the page was loaded.")}
        onRetry={() => location.reload()}
      />
    ) : (
      <Problem error={error} onRetry={reset} />
    ),
  defaultNotFoundComponent: NotFound,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
