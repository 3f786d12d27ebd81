import { defineConfig } from "vitest/config";

const CODE = "{server,host-kit,graph-host,console/src,cli,examples,scripts}";
const shared = {
  environment: "node" as const,
  pool: "forks" as const,
  setupFiles: ["server/test/clean-up-files.ts"],
  // The checkpoint validation suite of LangGraph registers its tests through globals.
  globals: true,
  // On an idle machine results arrive in milliseconds. Generous timeouts cost nothing and help on a busy one.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  // what was found instead of an empty list is the point of a failure
  chaiConfig: { truncateThreshold: 600 },
  // tests often wait for a database or a process: two files at once leave a quarter of two cores idle
  maxWorkers: 3,
  // The console's port would be contended; tests that need the console enable it. Each isolation recompiles the
  // sources, which takes seconds; tests of isolation set theirs.
  env: { HEDDLE_CONSOLE: "false", HEDDLE_PROCESS_ISOLATION: "none" },
};

/**
 * Loading the servers anew takes a file seconds. State that files of a process share must therefore suit all of them.
 */
const together = { isolate: false };

/** Configuration for `npx vitest run --project pure`; the conformance suite has its own. */
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
            // run as the tests of the projects that `heddle new` makes of them (cli/src/commands/new.slow.test.ts)
            "examples/{agent,approval}/**",
            ...[
              "db",
              "slow",
              "long",
              "crash",
              "python",
              "redis",
              "pgbouncer",
              "pgvector",
              "podman",
              "image",
              "kubernetes",
            ].map((kind) => `**/*.${kind}.test.ts`),
          ],
        },
      },
      {
        // One temporary Postgres per run, documented in server/test/db.ts.
        test: {
          ...shared,
          ...together,
          name: "db",
          include: [`${CODE}/**/*.db.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // Files that take long: whole platforms and their commands, builds, outages. `.ci/run` runs them, `npm test` not.
        test: {
          ...shared,
          ...together,
          name: "slow",
          include: [`${CODE}/**/*.slow.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
          testTimeout: 180_000,
        },
      },
      {
        // Properties of every route of every space, generated from the declarations; hostile inputs for every surface.
        test: {
          ...shared,
          name: "security",
          include: ["test/{security,hostile}/**/*.test.ts"],
          exclude: ["test/security/**/*.{python,long}.test.ts"],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // Needs programs beyond Node: redis-server, pgbouncer, an S3 server, a Postgres with pgvector, Podman. `.ci/run` installs them.
        test: {
          ...shared,
          name: "services",
          include: [
            ...["redis", "pgbouncer", "pgvector", "podman"].map((kind) => `${CODE}/**/*.${kind}.test.ts`),
            "console/test/**/*.podman.test.ts",
            "test/s3/**/*.s3.test.ts",
            "test/proxies/**/*.proxy.test.ts",
          ],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // Images of projects whose packages are installed from an index, with Podman. Not part of `.ci/run`.
        test: {
          ...shared,
          name: "image",
          include: [`${CODE}/**/*.image.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // A real Kubernetes, built once: `node --import tsx scripts/services/kubernetes.ts build`. Not part of `.ci/run`.
        test: {
          ...shared,
          name: "kubernetes",
          include: ["test/kubernetes/**/*.kubernetes.test.ts", `${CODE}/**/*.kubernetes.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
          testTimeout: 600_000,
          hookTimeout: 600_000,
          fileParallelism: false,
        },
      },
      {
        // Needs Python with the packages of scripts/services/python-suite-requirements.txt, which scripts/services/python-suite.ts installs.
        test: {
          ...shared,
          name: "python",
          include: [`${CODE}/**/*.python.test.ts`, "test/security/**/*.python.test.ts"],
          globalSetup: ["server/test/cluster.ts"],
        },
      },
      {
        // Kills processes on purpose.
        test: {
          ...shared,
          name: "crash",
          include: ["test/crash/**/*.crash.test.ts", `${CODE}/**/*.crash.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
          testTimeout: 300_000,
          // a hook starts several servers, each of which may take a minute
          hookTimeout: 300_000,
          // a file mostly waits for processes; those that check times in seconds are tried again, alone
          maxWorkers: 2,
        },
      },
      {
        // What takes longer still or kills more: builds over builds, floods of answers, outages. `.ci/run --all` runs them.
        test: {
          ...shared,
          name: "long",
          include: ["test/{crash,security}/**/*.long.test.ts", `${CODE}/**/*.long.test.ts`],
          globalSetup: ["server/test/cluster.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 2,
        },
      },
      {
        // The console in a browser before the real platform. Needs Debian's Chromium.
        test: {
          ...shared,
          name: "console",
          include: ["console/test/**/*.browser.test.ts"],
          globalSetup: ["console/test/shared-platforms.ts"],
          // a browser on a busy machine misses an event now and then; a real defect fails twice
          retry: 1,
          // a file mostly waits for the page
          maxWorkers: 2,
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
