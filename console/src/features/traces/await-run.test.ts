import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";

import { ApiError } from "../../api/api-error.ts";
import { AWAIT_RUN } from "./await-run.ts";
import { readTraceSearch } from "./trace-search.ts";

const request = async (answers: (ApiError | string)[]) => {
  let asks = 0;
  const queryFn = () => {
    const answer = answers[Math.min(asks++, answers.length - 1)]!;
    return answer instanceof ApiError ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const found = new QueryClient().fetchQuery({ queryKey: ["run"], queryFn, ...AWAIT_RUN, retryDelay: 1 });
  return { found: await found.catch((error: ApiError) => error.status), asks };
};

test("polls an unknown run until it exists, and stops at any other error", async () => {
  const unknown = new ApiError(404, "no such run");
  expect(await request([unknown, unknown, "there"])).toEqual({ found: "there", asks: 3 });
  expect(await request([unknown, new ApiError(403, "not yours"), "there"])).toEqual({ found: 403, asks: 2 });
  expect(await request([unknown])).toEqual({ found: 404, asks: 121 });
});

test("the URL decides whether to wait for a run", () => {
  expect(readTraceSearch({ poll: true })).toEqual({ view: "run", poll: true });
  expect(readTraceSearch({ poll: "no", view: "raw" })).toEqual({ view: "raw" });
});
