import { createFileRoute } from "@tanstack/react-router";

import { readThreadSearch } from "../../features/threads/read-thread-search.ts";
import { ThreadPage } from "../../features/threads/thread-page.tsx";

export const Route = createFileRoute("/_shell/a/$server/threads/$threadId")({
  validateSearch: readThreadSearch,
  component: ThreadPage,
});
