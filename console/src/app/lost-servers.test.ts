import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import { ApiError } from "../api/api-error.ts";
import { retryLost, watchServers } from "./lost-servers.ts";

test("servers are lost while a shown query gets no response, and back when it is answered", async () => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const changes: boolean[] = [];
  const end = watchServers(client.getQueryCache(), (isLost) => changes.push(isLost));
  let failure: Error | null = new ApiError(404, "no such thread");
  const observer = new QueryObserver(client, {
    queryKey: ["a"],
    queryFn: () => (failure ? Promise.reject(failure) : Promise.resolve(1)),
  });
  const unsubscribe = observer.subscribe(() => {});
  await vi.waitFor(() => expect(observer.getCurrentResult().isError).toBe(true));
  expect(changes).toEqual([]);
  failure = new ApiError(0, "The server did not respond");
  await observer.refetch();
  expect(changes).toEqual([true]);
  failure = null;
  await retryLost(client.getQueryCache());
  expect(changes).toEqual([true, false]);
  unsubscribe();
  end();
});
