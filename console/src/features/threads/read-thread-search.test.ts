import { expect, test } from "vitest";

import { isUuid, readMetadata, readThreadListSearch, readThreadSearch } from "./read-thread-search.ts";

test("drops invalid search parameters", () => {
  expect(readThreadListSearch({ status: "idle", sort: "x", page: "2", other: 1 })).toEqual({ status: "idle", page: 2 });
  expect(readThreadListSearch({ status: "nonsense", page: -1 })).toEqual({});
});

test("a URL with a checkpoint opens the history tab", () => {
  expect(readThreadSearch({ checkpoint: "c" })).toEqual({ tab: "history", checkpoint: "c" });
  expect(readThreadSearch({ tab: "runs" })).toEqual({ tab: "runs" });
});

test("reads metadata as key=value, with JSON values parsed", () => {
  expect(readMetadata("user=ada")).toEqual({ user: "ada" });
  expect(readMetadata("n=3")).toEqual({ n: 3 });
  expect(readMetadata("a=b=c")).toEqual({ a: "b=c" });
  expect([readMetadata("nothing"), readMetadata("=x"), readMetadata(undefined)]).toEqual([null, null, null]);
});

test("recognizes UUIDs", () => {
  expect([isUuid("01a1ffe6-caa9-7000-844b-3b9179f0d6ac"), isUuid("01a1")]).toEqual([true, false]);
});
