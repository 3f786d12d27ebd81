import { expect, test, vi } from "vitest";

import { testControlPlane } from "../../../server/test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  untilStatus,
} from "../../../server/test/deploy.ts";
import { run } from "./interrupt.ts";

const { url, call } = await testControlPlane();

test("interrupts the newest revision of a deployment, and says so when there is nothing to interrupt", async () => {
  const id = await createDeployment(call, "halting");
  const change = { build_command: "sleep 60" };
  const revision = await deployArchive(call, id, createArchive(graphProject("one")), { source_config: change });
  await untilStatus(call, id, revision, "BUILDING", 30_000);
  const printed: string[] = [];
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  try {
    await run(["halting", "--url", url]);
  } finally {
    writing.mockRestore();
  }
  expect(printed.join("")).toBe(`Revision ${revision} of halting is INTERRUPTED.\n`);
  await expect(run(["nowhere", "--url", url])).rejects.toThrow("There is no deployment nowhere");
}, 60_000);
