import { expect, test } from "vitest";

import { describeChanges, listChanges, shownStatus } from "./revision-changes.ts";

const git = (commit: string, ref = "main") =>
  ({ source: "github", source_revision_config: { repo_ref: ref, repo_commit_sha: commit } }) as never;

test("names the changes of a revision's source", () => {
  expect(describeChanges(git("a".repeat(40)), [])).toBe("First revision");
  expect(describeChanges(git("a".repeat(40)), [git("a".repeat(40))])).toBe("No changes");
  expect(describeChanges(git("b".repeat(40), "next"), [git("a".repeat(40))])).toBe(
    "branch or tag main → next, commit aaaaaaaaaa → bbbbbbbbbb",
  );
  const upload = (path: string) =>
    ({ source: "internal_source", source_revision_config: { source_tarball_path: path } }) as never;
  expect(describeChanges(upload("b"), [upload("a")])).toBe("new upload");
  // the source of an earlier revision again
  const earlier = { ...(upload("a") as object), id: "0198-486707a5" } as never;
  expect(describeChanges(upload("a"), [upload("b"), earlier])).toBe("Rollback to 486707a5");
  expect(describeChanges(upload("a"), [upload("a"), earlier])).toBe("No changes");
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
