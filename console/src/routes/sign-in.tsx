import { createFileRoute } from "@tanstack/react-router";

import { SignIn } from "../features/sign-in/sign-in.tsx";

export const Route = createFileRoute("/sign-in")({
  component: SignIn,
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search["next"] === "string" && /^\/(?!\/)/.test(search["next"]) ? { next: search["next"] } : {},
});
