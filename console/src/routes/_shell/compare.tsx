import { createFileRoute } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { ComparePage } from "../../features/compare/compare-page.tsx";
import { readCompareSearch } from "../../features/compare/compare-search.ts";
import { runQuery } from "../../features/traces/queries.ts";

export const Route = createFileRoute("/_shell/compare")({
  validateSearch: readCompareSearch,
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) =>
      [search.a, search.b].flatMap((id) => (id === undefined ? [] : client.prefetchQuery(runQuery(id)))),
    ),
  component: ComparePage,
});
