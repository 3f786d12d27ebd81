import { expect, test } from "vitest";

import { describeChanges, shownStatus } from "./revision-changes.ts";

const git = (commit: string, ref = "main") =>
  ({ source: "github", source_revision_config: { repo_ref: ref, repo_commit_sha: commit } }) as never;

test("names the changes of a revision's source", () => {
  expect(describeChanges(git("a".repeat(40)), undefined)).toBe("First revision");
  expect(describeChanges(git("a".repeat(40)), git("a".repeat(40)))).toBe("Same source");
  expect(describeChanges(git("b".repeat(40), "next"), git("a".repeat(40)))).toBe(
    "branch or tag main → next, commit aaaaaaaaaa → bbbbbbbbbb",
  );
  const upload = (path: string) =>
    ({ source: "internal_source", source_revision_config: { source_tarball_path: path } }) as never;
  expect(describeChanges(upload("b"), upload("a"))).toBe("new upload");
});

test("a deployed revision that is not active is superseded; others keep their status", () => {
  expect(shownStatus({ active_revision_id: "b" }, { id: "a", status: "DEPLOYED" })).toBe("superseded");
  expect(shownStatus({ active_revision_id: "a" }, { id: "a", status: "DEPLOYED" })).toBe("DEPLOYED");
  expect(shownStatus({ active_revision_id: "a" }, { id: "b", status: "BUILD_FAILED" })).toBe("BUILD_FAILED");
});
