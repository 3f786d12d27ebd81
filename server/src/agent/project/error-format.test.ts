import { expect, test } from "vitest";

import { errorFormat } from "./error-format.ts";

test.each([
  ["langgraph-sdk-py/0.4.14", "python"],
  ["python-requests/2.34.2", "python"],
  ["python-httpx/0.28.1", "python"],
  ["Python/3.12 aiohttp/3.11", "python"],
  ["Python-urllib/3.12", "python"],
  ["node", "text"],
  ["curl/8.5.0", "text"],
  ["Mozilla/5.0 (X11; Linux x86_64)", "text"],
  [undefined, "text"],
])("a client named %s gets the format %s", (userAgent, format) => {
  expect(errorFormat("auto", userAgent)).toBe(format);
  expect(errorFormat("detail", userAgent)).toBe("detail");
  expect(errorFormat("text", userAgent)).toBe("text");
});
