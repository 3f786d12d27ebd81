import { createFileRoute } from "@tanstack/react-router";

import { runQuery } from "../../features/traces/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { readCompareSearch } from "../../features/compare/compare-search.ts";
import { ComparePage } from "../../features/compare/compare-page.tsx";

export const Route = createFileRoute("/_shell/compare")({
  validateSearch: readCompareSearch,
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) =>
      [search.a, search.b].flatMap((id) => (id === undefined ? [] : client.prefetchQuery(runQuery(id)))),
    ),
  component: ComparePage,
});
