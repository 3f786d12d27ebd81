import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { datasetsQuery } from "../../features/datasets/queries.ts";
import { startQueries } from "../../app/start-queries.ts";
import { DATASET_SEARCH, readDatasetSearch } from "../../features/datasets/dataset-search.ts";
import { DatasetsPage } from "../../features/datasets/datasets-page.tsx";

export const Route = createFileRoute("/_shell/datasets/")({
  validateSearch: readDatasetSearch,
  search: { middlewares: [stripSearchParams(DATASET_SEARCH)] },
  beforeLoad: ({ search, ...opening }) =>
    startQueries(opening, (client) => [client.prefetchInfiniteQuery(datasetsQuery({ ...DATASET_SEARCH, ...search }))]),
  component: DatasetsPage,
});
