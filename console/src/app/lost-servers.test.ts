import { notifyManager, QueryCache, QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";

import { ApiError } from "../api/api-error.ts";
import { keepLoaded, retryLost, staleSince, watchServers } from "./lost-servers.ts";

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

test("data that was loaded stays while a server does not respond, and an error that is an answer replaces it", async () => {
  const queryCache = new QueryCache({ onError: keepLoaded });
  const client = new QueryClient({ queryCache, defaultOptions: { queries: { retry: false } } });
  const changes: boolean[] = [];
  const end = watchServers(queryCache, (isLost) => changes.push(isLost));
  let failure: Error | null = null;
  const observer = new QueryObserver(client, {
    queryKey: ["a"],
    queryFn: () => (failure ? Promise.reject(failure) : Promise.resolve(1)),
  });
  const seen: unknown[] = [];
  // as React reads it
  const unsubscribe = observer.subscribe(
    notifyManager.batchCalls(() => void seen.push(observer.getCurrentResult().error)),
  );
  await vi.waitFor(() => expect(observer.getCurrentResult().data).toBe(1));
  const loadedAt = observer.getCurrentResult().dataUpdatedAt;
  failure = new ApiError(0, "The server did not respond");
  seen.length = 0;
  await observer.refetch();
  await vi.waitFor(() => expect(seen).not.toEqual([]));
  // each try of the notice, too: it does not say in between that the server is back
  await retryLost(queryCache);
  expect(observer.getCurrentResult()).toMatchObject({ data: 1, error: null, isSuccess: true });
  expect([changes, staleSince(queryCache)]).toEqual([[true], loadedAt]);
  failure = null;
  await retryLost(queryCache);
  expect([changes, staleSince(queryCache)]).toEqual([[true, false], null]);
  // a server that answers with an error is back
  failure = new ApiError(503, "restarting");
  await observer.refetch();
  failure = new ApiError(404, "no such thread");
  await observer.refetch();
  expect(changes).toEqual([true, false, true, false]);
  expect(observer.getCurrentResult().error).toBe(failure);
  await vi.waitFor(() => expect(seen.at(-1)).toBe(failure));
  expect(new Set(seen)).toEqual(new Set([null, failure]));
  unsubscribe();
  end();
});
