import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Cancels every pending run of the server, so it must not run concurrently with other files. */
const ALONE = "cancel-many.test.ts";

const shared = {
  root: fileURLToPath(new URL(".", import.meta.url)),
  setupFiles: [fileURLToPath(new URL("send-secrets.ts", import.meta.url))],
  testTimeout: 60_000,
  // a server that stops is searched for secrets
  hookTimeout: 240_000,
  expect: { poll: { timeout: 20_000 } },
  isolate: false,
  // concurrent servers would compete for its port
  env: { HEDDLE_CONSOLE: "false" },
};

export default defineConfig({
  test: {
    globalSetup: [fileURLToPath(new URL("global-setup.ts", import.meta.url))],
    // The tests mostly wait, so more files than cores.
    maxWorkers: 4,
    projects: [
      {
        test: {
          ...shared,
          name: "conformance",
          include: ["*.test.ts", "*.test.tsx"],
          exclude: [ALONE],
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: "traces",
          include: ["traces/*.test.ts"],
          globalSetup: [fileURLToPath(new URL("traces/global-setup.ts", import.meta.url))],
          sequence: { groupOrder: 0 },
        },
      },
      // starts its own platform
      { test: { ...shared, name: "deploy", include: ["deploy/*.test.ts"], sequence: { groupOrder: 0 } } },
      { test: { ...shared, name: "alone", include: [ALONE], sequence: { groupOrder: 1 } } },
    ],
  },
});
