import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const source = "export const one = 1;\n";
const importing = (path: string) => `import { one } from "${path}";\nexport const two = one;\n`;

/** Runs the checker on a tree of files and returns `rule: importing file` for each violation. */
async function violations(files: Record<string, string>): Promise<string[]> {
  const tree = await mkdtemp(join(tmpdir(), "heddle-imports-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(tree, "node_modules"));
    const all = { "tsconfig.json": "{}", "package.json": "{}", ...files };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      await writeFile(join(tree, path), text);
    }
    const folders = [...new Set(Object.keys(files).map((path) => path.split("/")[0]!))];
    const depcruise = join(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
    const args = [depcruise, "--config", join(ROOT, ".dependency-cruiser.cjs"), "--output-type", "json", ...folders];
    const json = await new Promise<string>((done, fail) =>
      execFile(process.execPath, args, { cwd: tree, maxBuffer: 1 << 26 }, (_, out, err) =>
        out ? done(out) : fail(new Error(err)),
      ),
    );
    const { summary } = JSON.parse(json) as { summary: { violations: { rule: { name: string }; from: string }[] } };
    return summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`).toSorted();
  } finally {
    await rm(tree, { recursive: true, force: true });
  }
}

test("accepts a tree that follows the import rules", async () => {
  const found = await violations({
    "server/src/base/errors.ts": source,
    "server/src/base/config/options.ts": importing("../errors.ts"),
    "server/src/base/log.ts": importing("./config/options.ts"),
    "server/src/base/db/sql.ts": importing("../log.ts"),
    "server/src/agent/runs/sql.ts": importing("../../base/db/sql.ts"),
    "server/src/agent/runs/routes.ts": importing("./sql.ts"),
    "server/src/agent/threads/sql.ts": importing("../runs/sql.ts"),
    "server/src/agent/index.ts": importing("./runs/routes.ts"),
    "server/src/app.ts": source,
    "server/src/agent-app.ts": importing("./agent/index.ts"),
    "server/src/roles/agent-role.ts": importing("../agent-app.ts"),
    "server/src/main.ts": 'export const start = () => import("./roles/agent-role.ts");\n',
    "server/test/db.ts": importing("../src/base/db/sql.ts"),
    "server/src/agent/runs/sql.db.test.ts": importing("../../../test/db.ts"),
    "host-kit/src/host-protocol.ts": source,
    "server/src/agent/runs/host.ts": importing("../../../../host-kit/src/host-protocol.ts"),
    "cli/src/main.ts": 'export const start = () => import("../../server/src/main.ts");\n',
  });
  expect(found).toEqual([]);
});

test("finds each violation of the import rules", async () => {
  // Imported files, one per location, without their own violations.
  const targets = {
    "server/src/base/ids.ts": source,
    "server/src/base/log.ts": source,
    "server/src/base/events/bus.ts": source,
    "server/src/base/http/server.ts": source,
    "server/src/agent/runs/sql.ts": source,
    "server/src/agent/runs/routes.ts": source,
    "server/src/agent/runs/index.ts": source,
    "server/src/agent/threads/delete-thread.ts": source,
    "server/src/app.ts": source,
    "server/src/main.ts": source,
    "server/src/trace/index.ts": source,
    "server/src/trace-app.ts": importing("./trace/index.ts"),
    "server/src/admin/keys.ts": source,
    "server/test/db.ts": source,
    // a cycle is reported once, for one of its files
    "server/src/trace/b.ts": importing("./a.ts"),
    "server/src/trace/d.ts": 'import type { C } from "./c.ts";\nexport type D = C;\n',
    "server/package.json": "{}",
    "graph-host/package.json": '{"devDependencies": {"zod": "4"}}',
    "graph-host/src/serialize.ts": source,
  };
  const breaches: [rule: string, file: string, text: string][] = [
    ["no-cycles", "server/src/trace/a.ts", importing("./b.ts")],
    ["no-cycles", "server/src/trace/c.ts", 'import type { D } from "./d.ts";\nexport type C = D;\n'],
    ["unresolvable", "server/src/agent/lost.ts", importing("./missing.ts")],
    ["base-is-the-bottom", "server/src/base/db/up.ts", importing("../../agent/runs/sql.ts")],
    ["base-layer-1-imports-upward", "server/src/base/clock.ts", importing("./log.ts")],
    ["base-layer-4-imports-upward", "server/src/base/db/over.ts", importing("../events/bus.ts")],
    ["base-layer-5-imports-upward", "server/src/base/polling/over.ts", importing("../http/server.ts")],
    ["identity-looks-down", "server/src/identity/up.ts", importing("../agent/runs/sql.ts")],
    ["spaces-look-down", "server/src/trace/across.ts", importing("../agent/runs/sql.ts")],
    ["app-is-imported-by-main", "server/src/agent/up.ts", importing("../app.ts")],
    ["agent-role-loads-its-space-only", "server/src/roles/agent-role.ts", importing("../trace-app.ts")],
    ["main-is-the-top", "server/src/worker.ts", importing("./main.ts")],
    ["admin-is-for-the-command-line", "server/src/identity/asks.ts", importing("../admin/keys.ts")],
    ["routes-are-mounted-only", "server/src/agent/threads/sibling.ts", importing("../runs/routes.ts")],
    ["agent-runs-imports-upward", "server/src/agent/runs/above.ts", importing("../threads/delete-thread.ts")],
    ["agent-lower-layer-imports-upward", "server/src/agent/runs/schema.ts", importing("../threads/delete-thread.ts")],
    ["trace-slice-without-place", "server/src/trace/unlisted/a.ts", importing("../../base/ids.ts")],
    ["server-knows-the-host-kit-only", "server/src/agent/deep.ts", importing("../../../graph-host/src/serialize.ts")],
    ["host-kit-is-beneath-both", "host-kit/src/up.ts", importing("../../graph-host/src/serialize.ts")],
    ["host-knows-no-server", "graph-host/src/up.ts", importing("../../server/src/base/ids.ts")],
    ["cli-starts-main", "cli/src/deep.ts", importing("../../server/src/base/ids.ts")],
    ["cli-loads-main-late", "cli/src/early.ts", importing("../../server/src/main.ts")],
    ["black-boxes-import-nothing-of-ours", "conformance/x.test.ts", importing("../server/src/base/ids.ts")],
    ["bench-is-a-client", "bench/x.ts", importing("../server/src/base/ids.ts")],
    ["production-imports-no-test", "server/src/agent/tested.ts", importing("../../test/db.ts")],
    ["index-at-a-space-root-only", "server/src/agent/barrel.ts", importing("./runs/index.ts")],
    ["no-re-exports", "server/src/agent/again.ts", 'export { one } from "../base/ids.ts";\n'],
    ["undeclared-package", "server/src/base/z.ts", 'import { z } from "zod";\nexport const s = z.string();\n'],
    ["ships-with-a-dev-package", "graph-host/src/z.ts", 'import { z } from "zod";\nexport const s = z.string();\n'],
  ];
  const files = Object.fromEntries(breaches.map(([, file, text]) => [file, text]));
  const found = await violations({ ...targets, ...files });
  for (const [rule, file] of breaches) expect(found).toContain(`${rule}: ${file}`);
});
