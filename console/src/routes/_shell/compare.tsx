import { createFileRoute } from "@tanstack/react-router";

import { readCompareSearch } from "../../features/compare/compare-search.ts";
import { ComparePage } from "../../features/compare/compare-page.tsx";

export const Route = createFileRoute("/_shell/compare")({ validateSearch: readCompareSearch, component: ComparePage });
