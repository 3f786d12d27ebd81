import { expect, test } from "vitest";

import { shortageIn } from "./shortage.ts";

const coded = (code: string, cause?: unknown) => Object.assign(new Error("it failed", { cause }), { code });

test("finds the exhausted resource in an error or its causes", () => {
  expect(shortageIn(coded("53100"))?.kind).toBe("database-disk");
  expect(shortageIn(new Error("outer", { cause: coded("X", coded("EDQUOT")) }))?.kind).toBe("server-disk");
  const message = "Cannot write to file, errno: 28, strerror: No space left on device";
  const full = Object.assign(new Error(message), { code: "75", type: "CANNOT_WRITE_TO_FILE_DESCRIPTOR" });
  expect(shortageIn(full)?.kind).toBe("store-disk");
});

test("finds nothing in other errors", () => {
  for (const thrown of [coded("23505"), coded("constructor"), new Error("No space left on device"), null, "ENOSPC"]) {
    expect(shortageIn(thrown)).toBeUndefined();
  }
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(shortageIn(circle)).toBeUndefined();
});
