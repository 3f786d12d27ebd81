import { createFileRoute } from "@tanstack/react-router";

import { startQueries } from "../../app/start-queries.ts";
import { Home } from "../../features/home/home.tsx";
import { startHome } from "../../features/home/start-home.ts";

export const Route = createFileRoute("/_shell/")({
  beforeLoad: (opening) => startQueries(opening, startHome),
  component: Home,
});
