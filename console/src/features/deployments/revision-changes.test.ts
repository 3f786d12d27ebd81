import { expect, test } from "vitest";

import { describeChanges, describeRedeploy, listChanges, shownStatus } from "./revision-changes.ts";

const git = (commit: string, ref = "main") =>
  ({ source: "github", source_revision_config: { repo_ref: ref, repo_commit_sha: commit } }) as never;

test("names the changes of a revision's source", () => {
  expect(describeChanges(git("a".repeat(40)), undefined)).toBe("First revision");
  expect(describeChanges(git("a".repeat(40)), git("a".repeat(40)))).toBe("No changes");
  expect(describeChanges(git("b".repeat(40), "next"), git("a".repeat(40)))).toBe(
    "branch or tag main → next, commit aaaaaaaaaa → bbbbbbbbbb",
  );
  const upload = (path: string) =>
    ({ source: "internal_source", source_revision_config: { source_tarball_path: path } }) as never;
  expect(describeChanges(upload("b"), upload("a"))).toBe("new upload");
});

test("a revision that deploys an earlier one again is named after it", () => {
  const revisions = [2, 1].map((number) => ({ id: `0198-4867070${number}`, number }));
  const again = (number: number, redeploy_of: string | null) => describeRedeploy({ number, redeploy_of }, revisions);
  expect(again(3, null)).toBeNull();
  expect(again(3, "0198-48670701")).toBe("Rollback to revision 1");
  expect(again(3, "0198-48670702")).toBe("Redeploy of revision 2");
  // older than those that were loaded
  expect(again(200, "0198-486707a5")).toBe("Rollback to 486707a5");
});

test("names changed variables, resources and commands", () => {
  const made = (made_from: object) =>
    ({ source: "internal_source", source_revision_config: { source_tarball_path: "a" }, made_from }) as never;
  const none = { resource_spec: { cpu: 1, memory_mb: 512 }, install_command: null, build_command: null };
  const variable_changes = { added: ["A", "B"], changed: ["KEY"], removed: [] };
  const later = { resource_spec: { cpu: 1, memory_mb: 1024 }, install_command: "pnpm i", build_command: null };
  expect(listChanges(made({ ...later, variable_changes }), made({ ...none, variable_changes: null }))).toEqual([
    "added variables A, B",
    "changed variable KEY",
    "memory_mb 512 → 1024",
    "install command none → pnpm i",
  ]);
  // revisions of earlier versions do not record them
  expect(listChanges(made(undefined as never), made(none))).toEqual([]);
});

test("a deployed revision that is not active is superseded; others keep their status", () => {
  expect(shownStatus({ active_revision_id: "b" }, { id: "a", status: "DEPLOYED" })).toBe("superseded");
  expect(shownStatus({ active_revision_id: "a" }, { id: "a", status: "DEPLOYED" })).toBe("DEPLOYED");
  expect(shownStatus({ active_revision_id: "a" }, { id: "b", status: "BUILD_FAILED" })).toBe("BUILD_FAILED");
});
