import { expect, test } from "vitest";

import { route } from "./route.ts";

const base = {
  method: "GET",
  path: "/x",
  summary: "",
  tag: "",
  out: { 204: null },
  handler: () => new Response(null, { status: 204 }),
} as const;

test("a route's type requires its access rule, and `npm run check` fails when one of these compiles", () => {
  expect(route({ ...base, permission: "threads:read" }).permission).toBe("threads:read");
  expect(route({ ...base, permission: "public", publicBecause: "a test" }).publicBecause).toBe("a test");
  // @ts-expect-error -- no permission
  route({ ...base });
  // @ts-expect-error -- public without a reason
  route({ ...base, permission: "public" });
  // @ts-expect-error -- a reason for a route that is not public
  route({ ...base, permission: "threads:read", publicBecause: "it is not" });
  // @ts-expect-error -- an unknown permission
  route({ ...base, permission: "threads:rede" });
});
