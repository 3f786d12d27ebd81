import { expect, test, vi } from "vitest";

import { RememberedUsers } from "./remembered-users.ts";

const user = (identity: string) => ({ identity, display_name: identity, is_authenticated: true, permissions: [] });

test("returns the same user for the same header values until the entry expires", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const users = new RememberedUsers(() => ({ cache_keys: ["Authorization", "x-team"], ttl_seconds: 10, max_size: 2 }));
  const headers = (token: string, team = "red") => new Headers({ authorization: token, "x-team": team, other: token });
  users.keep(headers("a"), user("anna"));
  expect(users.find(headers("a"))?.identity).toBe("anna");
  expect(users.find(headers("a", "blue"))).toBeUndefined();
  expect(users.find(headers("b"))).toBeUndefined();
  vi.advanceTimersByTime(10_001);
  expect(users.find(headers("a"))).toBeUndefined();
  vi.useRealTimers();
});

test("evicts the oldest entries above the limit", () => {
  const users = new RememberedUsers(() => ({ cache_keys: ["authorization"], ttl_seconds: 10, max_size: 2 }));
  const headers = (token: string) => new Headers({ authorization: token });
  for (const token of ["a", "b", "c"]) users.keep(headers(token), user(token));
  expect(["a", "b", "c"].map((token) => users.find(headers(token))?.identity)).toEqual([undefined, "b", "c"]);
});

test("caches nothing without the key headers or without auth.cache", () => {
  const rules = { cache_keys: ["authorization"], ttl_seconds: 10, max_size: 2 };
  const users = new RememberedUsers(() => rules);
  users.keep(new Headers(), user("nobody"));
  expect(users.find(new Headers())).toBeUndefined();
  const none = new RememberedUsers(() => null);
  none.keep(new Headers({ authorization: "a" }), user("a"));
  expect(none.find(new Headers({ authorization: "a" }))).toBeUndefined();
});
