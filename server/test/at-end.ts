import { afterAll, type RunnerTask } from "vitest";

/** `file`: the test file with its results. */
type CleanUp = (file: RunnerTask) => unknown;

const pending: CleanUp[] = [];

/**
 * Cleans up after the test file, in reverse order of the calls, wherever it is called: at the top of a file, in
 * `beforeAll` or in a test. vitest ignores an `afterAll` that is called while tests run, so that what a helper started
 * there, servers with their connections, would outlive the file.
 */
export const atEnd = (cleanUp: CleanUp): void => void pending.push(cleanUp);

/** Called once per test file, before its own hooks are registered, so that it runs after them. */
export function cleanUpAfterFile(): void {
  // vitest passes the file as the second argument, and requires the first one destructured.
  // oxlint-disable-next-line no-empty-pattern
  afterAll(async ({}, file) => {
    const errors: unknown[] = [];
    while (pending.length > 0) {
      try {
        await pending.pop()!(file as unknown as RunnerTask);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }, 120_000);
}
