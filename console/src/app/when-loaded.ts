import { queryClient } from "./query-client.ts";

/** Time in which a page asks for its first data, and then shows them; and the longest wait. */
const [SETTLE_MS, MOST_MS] = [100, 1_500];

const pause = () => new Promise((done) => setTimeout(done, SETTLE_MS));

/** Resolves when the page has its first data: large parts that it needs later do not compete with them. */
export async function whenLoaded(): Promise<void> {
  const until = performance.now() + MOST_MS;
  do await pause();
  while (queryClient.isFetching() > 0 && performance.now() < until);
}
