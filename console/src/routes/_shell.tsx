import { createFileRoute } from "@tanstack/react-router";

import { mayEnter } from "../app/may-enter.ts";
import { deploymentServersQuery, spacesQuery } from "../app/queries.ts";
import { Shell } from "../app/shell.tsx";
import { PageLoader } from "../app/page-loader.tsx";
import { firstData, startQueries } from "../app/start-queries.ts";

export const Route = createFileRoute("/_shell")({
  // pages send no requests before the user is signed in
  async beforeLoad({ location, ...opening }) {
    await mayEnter(opening.context.queryClient, location.href);
    startQueries(opening, (client) => {
      // the navigation waits for it
      const about = client.getQueryData(spacesQuery.queryKey);
      return about?.spaces.control && client.prefetchQuery(deploymentServersQuery);
    });
  },
  loader: ({ context }) => firstData(context.queryClient),
  pendingComponent: PageLoader,
  component: Shell,
});
