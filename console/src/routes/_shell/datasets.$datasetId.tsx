import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { ONE_DATASET_SEARCH, readOneDatasetSearch } from "../../features/datasets/dataset-search.ts";
import { DatasetPage } from "../../features/datasets/dataset-page.tsx";

export const Route = createFileRoute("/_shell/datasets/$datasetId")({
  validateSearch: readOneDatasetSearch,
  search: { middlewares: [stripSearchParams(ONE_DATASET_SEARCH)] },
  component: DatasetPage,
});
