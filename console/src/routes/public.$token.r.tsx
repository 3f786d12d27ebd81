import { createFileRoute } from "@tanstack/react-router";

import { readSharedSearch } from "../features/sharing/shared-search.ts";
import { SharedTracePage } from "../features/sharing/shared-trace-page.tsx";

export const Route = createFileRoute("/public/$token/r")({
  validateSearch: readSharedSearch,
  component: SharedTracePage,
});
