import type { QueryClient } from "@tanstack/react-query";
import { redirect } from "@tanstack/react-router";

import { ApiError } from "../api/api-error.ts";
import { identityQuery } from "../features/settings/queries.ts";
import { spacesQuery } from "./queries.ts";

/**
 * Identifies the caller before any page sends a request; without a session it redirects to the sign-in page. When the
 * server cannot be reached, the pages load and show the error themselves.
 */
export async function mayEnter(client: QueryClient, href: string): Promise<void> {
  // both at once, until it is known that there is no trace platform to ask
  const hasTraces = client.getQueryData(spacesQuery.queryKey)?.spaces.trace !== false;
  const identified = hasTraces && client.ensureQueryData(identityQuery).catch((error: unknown) => error);
  const about = await client.ensureQueryData(spacesQuery).catch(() => null);
  if (!about?.spaces.trace) return client.cancelQueries({ queryKey: identityQuery.queryKey });
  const rejection = await identified;
  if (rejection instanceof ApiError && rejection.status === 401) {
    redirect({ to: "/sign-in", search: { next: href }, replace: true, throw: true });
  }
}
