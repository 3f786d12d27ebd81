import type { QueryClient } from "@tanstack/react-query";

import { traceApi } from "../api/clients.ts";
import { storeCsrfToken, storeKey, storeWorkspace } from "../api/credentials.ts";
import { forgetResults } from "./forget-results.ts";

/** Signs out, here and on the server, and forgets what was loaded. */
export async function endSession(client: QueryClient): Promise<void> {
  storeKey(null);
  storeWorkspace(null);
  await traceApi.POST("/api/v1/logout", { body: {} }).catch(() => {});
  storeCsrfToken(null);
  await forgetResults();
  client.clear();
}
