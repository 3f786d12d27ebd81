import { createFileRoute, stripSearchParams } from "@tanstack/react-router";

import { DATASET_SEARCH, readDatasetSearch } from "../../features/datasets/dataset-search.ts";
import { DatasetsPage } from "../../features/datasets/datasets-page.tsx";

export const Route = createFileRoute("/_shell/datasets/")({
  validateSearch: readDatasetSearch,
  search: { middlewares: [stripSearchParams(DATASET_SEARCH)] },
  component: DatasetsPage,
});
