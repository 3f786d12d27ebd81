import { createFileRoute } from "@tanstack/react-router";

import { readThreadListSearch } from "../../features/threads/read-thread-search.ts";
import { ThreadList } from "../../features/threads/thread-list.tsx";

export const Route = createFileRoute("/_shell/a/$server/threads/")({
  validateSearch: readThreadListSearch,
  component: ThreadList,
});
