import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { DatasetPage } from "../../features/datasets/dataset-page.tsx";
import { ONE_DATASET_SEARCH, readOneDatasetSearch } from "../../features/datasets/dataset-search.ts";
import { datasetQuery, examplesQuery, experimentsQuery } from "../../features/datasets/queries.ts";

export const Route = createFileRoute("/_shell/datasets/$datasetId")({
  validateSearch: readOneDatasetSearch,
  search: { middlewares: [stripSearchParams(ONE_DATASET_SEARCH)] },
  beforeLoad: ({ params: { datasetId }, search: given, ...opening }) =>
    startQueries(opening, (client) => {
      const search = { ...ONE_DATASET_SEARCH, ...given };
      const { text, split, version } = search;
      return [
        client.prefetchQuery(datasetQuery(datasetId)),
        search.tab === "examples" && client.prefetchInfiniteQuery(examplesQuery(datasetId, { text, split, version })),
        search.tab === "experiments" && client.prefetchQuery(experimentsQuery(datasetId)),
      ];
    }),
  component: DatasetPage,
});
