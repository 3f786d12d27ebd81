import { expect, test } from "vitest";

import { queueSection } from "../project/queue-config.ts";
import type { Project } from "../project/read-project.ts";
import { checkQueueKeys } from "./declare-rules.ts";

const check = (queue: object, isEncrypted: boolean) => () =>
  checkQueueKeys({ config: { heddle: { queue: queueSection.parse(queue) } } } as unknown as Project, isEncrypted);

test("rules by keys that encryption hides prevent the start", () => {
  for (const queue of [
    { concurrency: [{ key: "context.plan", limit: 1 }] },
    { throttle: [{ key: "context.plan", limit: 1, period: 1 }] },
    { waiting: [{ key: "context.plan", limit: 1 }] },
    { priority: [{ name: "chat", match: { "context.plan": "paid" } }] },
    { fair: "context.plan" },
  ]) {
    expect(check(queue, true)).toThrow(/"context\.plan" is encrypted/);
    expect(check(queue, false)).not.toThrow();
  }
  expect(check({ concurrency: [{ key: "metadata.customer", limit: 1 }], fair: null }, true)).not.toThrow();
  expect(() => checkQueueKeys({ config: {} } as unknown as Project, true)).not.toThrow();
});
