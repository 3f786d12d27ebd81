import { QueryCache, QueryClient } from "@tanstack/react-query";

import { ApiError } from "../api/api-error.ts";
import { keepLoaded } from "./lost-servers.ts";

/**
 * Retries server errors (5xx) and unexpected exceptions twice; rejections (4xx) and connection failures (status 0) are
 * final.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: keepLoaded }),
  defaultOptions: {
    // without a network, requests fail as without a server, instead of waiting without a word
    mutations: { networkMode: "always" },
    queries: {
      // the server may be on this machine
      networkMode: "always",
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      retry: (failures, error) => failures < 2 && (!(error instanceof ApiError) || error.status >= 500),
      retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 5_000),
    },
  },
});
