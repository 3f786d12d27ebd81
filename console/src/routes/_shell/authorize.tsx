import { createFileRoute } from "@tanstack/react-router";

import { Authorize } from "../../features/settings/authorize.tsx";

export const Route = createFileRoute("/_shell/authorize")({
  validateSearch: ({ request }: Record<string, unknown>): { request: string } => ({ request: String(request ?? "") }),
  component: Authorize,
});
