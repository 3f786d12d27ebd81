import { expect, test } from "vitest";

import { shownRunStatus } from "./run-record.ts";

test("a run that a question or a command to the parent ended is interrupted, not failed", () => {
  const status = (error: string | null) => shownRunStatus({ status: error === null ? "success" : "error", error });
  expect(status('GraphInterrupt: [{"value":"ok?"}]')).toBe("interrupted");
  expect(status("GraphInterrupt((Interrupt(value='ok?'),))")).toBe("interrupted");
  expect(status("langgraph.errors.NodeInterrupt: x")).toBe("interrupted");
  expect(status("ParentCommand(Command(graph='__parent__'))")).toBe("interrupted");
  expect(status("ValueError: GraphInterrupt is not allowed here")).toBe("error");
  expect(status("GraphInterruptions: x")).toBe("error");
  expect(status(null)).toBe("success");
});
