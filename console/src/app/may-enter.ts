import type { QueryClient } from "@tanstack/react-query";
import { redirect } from "@tanstack/react-router";

import { ApiError } from "../api/api-error.ts";
import { whoQuery } from "../features/settings/queries.ts";
import { spacesQuery } from "./spaces.ts";

/**
 * Asks who is there before any page asks for anything; whoever is nobody signs in first. Where nobody can be asked,
 * the pages are shown and tell of it themselves.
 */
export async function mayEnter(client: QueryClient, href: string): Promise<void> {
  const about = await client.ensureQueryData(spacesQuery).catch(() => null);
  if (!about?.spaces.trace) return;
  const refusal = await client.ensureQueryData(whoQuery).catch((error: unknown) => error);
  if (refusal instanceof ApiError && refusal.status === 401) {
    redirect({ to: "/sign-in", search: { next: href }, replace: true, throw: true });
  }
}
