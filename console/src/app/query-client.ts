import { QueryClient } from "@tanstack/react-query";

import { ApiError } from "../api/api-error.ts";

/**
 * Retries server errors (5xx) and unexpected exceptions twice; rejections (4xx) and connection failures (status 0) are
 * final.
 */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // also while the browser reports that it is offline: the server may be on this machine
      networkMode: "always",
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 500),
      retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 5_000),
    },
  },
});
