import { queryOptions } from "@tanstack/react-query";

import { data, traceApi } from "../../api/clients.ts";

export const signInMethodsQuery = queryOptions({
  queryKey: ["sign-in-methods"],
  queryFn: () => data(traceApi.GET("/api/v1/auth/sign-in-methods", {})),
});
