import { expect, test } from "vitest";
import { url } from "./clients.ts";
import { has } from "./features.ts";
import { PROTOCOLS, rejections } from "./immediate-answers.ts";

/** Polling costs more, and finds the interrupt later. `scripts/versions/immediate-answers.ts` counts more answers. */
const cases = Object.entries(PROTOCOLS)
  .filter(([name]) => !name.startsWith("protocol v2") || has("protocol v2"))
  .filter(([name]) => !/state, polled|MCP|A2A/.test(name) || has("interrupt ids"))
  .map(([name, connect]) => ({ name, connect, count: /polled|awaited/.test(name) ? 5 : 20 }));

test.each(cases)(
  "an interrupt that becomes visible can be answered at once: $name",
  { timeout: 120_000 },
  async ({ connect, count }) => {
    expect(await rejections(await connect(url), count)).toEqual([]);
  },
);
