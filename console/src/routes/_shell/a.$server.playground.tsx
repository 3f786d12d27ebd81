import { createFileRoute } from "@tanstack/react-router";

import { Playground } from "../../features/playground/playground.tsx";
import { readPlace } from "../../features/playground/read-place.ts";

export const Route = createFileRoute("/_shell/a/$server/playground")({
  validateSearch: readPlace,
  component: Playground,
});
