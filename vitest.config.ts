import { defineConfig } from "vitest/config";

const CODE = "{server,graph-host,console/src,cli,examples,scripts}";
const shared = {
  environment: "node" as const,
  pool: "forks" as const,
  // The checkpoint validation suite of LangGraph registers its tests through globals.
  globals: true,
  // What a test waits for comes in milliseconds on a machine that is its own. Elsewhere patience costs nothing.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  // much of a database test is waiting: one file at a time leaves half of two cores idle
  maxWorkers: 2,
  // its port would be fought for; tests that want the console say so
  // each isolation compiles the sources anew, which takes seconds; tests of isolation name theirs
  env: { HEDDLE_CONSOLE: "false", HEDDLE_PROCESS_ISOLATION: "none" },
};

/** A file that loads the servers anew takes seconds for it. What files of a process then share must hold for all of them. */
const together = { isolate: false };

/** `npx vitest run --project pure`; the conformance suite has a configuration of its own. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          ...together,
          name: "pure",
          include: [`${CODE}/**/*.test.ts`, "test/{crash,chaos}/check-*.test.ts"],
          exclude: [
            "**/node_modules/**",
            ...["db", "redis", "pgvector", "podman"].map((kind) => `**/*.${kind}.test.ts`),
          ],
        },
      },
      {
        // One temporary Postgres a run: server/test/db.ts says how to use it.
        test: {
          ...shared,
          ...together,
          name: "db",
          include: [`${CODE}/**/*.db.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // What holds for every route of every space: generated from the declarations.
        test: {
          ...shared,
          name: "security",
          include: ["test/security/**/*.test.ts"],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // Needs programs beyond Node: redis-server, an S3 server, a Postgres with pgvector, Podman. `.ci/run` installs them.
        test: {
          ...shared,
          name: "services",
          include: [
            ...["redis", "pgvector", "podman"].map((kind) => `${CODE}/**/*.${kind}.test.ts`),
            "console/test/**/*.podman.test.ts",
            "test/s3/**/*.s3.test.ts",
            "test/proxies/**/*.proxy.test.ts",
          ],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // Kills processes on purpose; one file at a time.
        test: {
          ...shared,
          name: "crash",
          include: ["test/crash/**/*.crash.test.ts"],
          globalSetup: ["server/test/cluster.ts"],
          testTimeout: 300_000,
          fileParallelism: false,
        },
      },
      {
        // The console in a browser before the real platform. Needs Debian's Chromium.
        test: {
          ...shared,
          name: "console",
          include: ["console/test/**/*.browser.test.ts"],
          globalSetup: ["console/test/shared-platforms.ts"],
          // a browser on a busy machine misses a moment now and then; what is wrong fails twice
          retry: 1,
          // two files at once: much of a file is waiting for what a page does next
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      {
        // npm pack, a project outside of the repository, npx heddle dev.
        test: {
          ...shared,
          name: "package",
          include: ["test/package.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
