import { createFileRoute } from "@tanstack/react-router";

import { StorePage } from "../../features/store/store-page.tsx";
import { optionalText, texts } from "../../ui/search-params.ts";

interface StoreSearch {
  /** The chosen namespace. */
  ns?: string[] | undefined;
  /** Namespace and key of the selected item. */
  in?: string[] | undefined;
  key?: string | undefined;
  query?: string | undefined;
  filter?: string | undefined;
}

export const Route = createFileRoute("/_shell/a/$server/store")({
  component: StorePage,
  validateSearch: (search: Record<string, unknown>): StoreSearch => ({
    ns: texts(search["ns"]),
    in: texts(search["in"]),
    key: optionalText(search["key"]),
    query: optionalText(search["query"]),
    filter: optionalText(search["filter"]),
  }),
});
