import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

import { listProject, packagesOutside } from "./archive-project.ts";

const dir = mkdtempSync(join(tmpdir(), "heddle-archive-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("finds packages outside the project, but not those inside it or from a registry", () => {
  expect(packagesOutside(dir)).toEqual([]);
  const listed = {
    dependencies: { a: "file:../a-1.0.0.tgz", b: "^1.0.0", c: "file:./packages/c" },
    devDependencies: { d: "link:/elsewhere/d", e: "file:packages/../../e" },
  };
  writeFileSync(join(dir, "package.json"), JSON.stringify(listed));
  expect(packagesOutside(dir).map(({ name }) => name)).toEqual(["a", "d", "e"]);
  writeFileSync(join(dir, "package.json"), "{");
  expect(packagesOutside(dir)).toEqual([]);
});

/** Creates a project with these files, whose contents are given or empty. */
function project(files: Record<string, string>): string {
  const root = mkdtempSync(join(dir, "project-"));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const empty = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, ""]));

/** Lists what Git would add, with an empty configuration. */
function listByGit(root: string): string[] {
  const env = { PATH: process.env["PATH"], HOME: dir, GIT_CONFIG_NOSYSTEM: "1", XDG_CONFIG_HOME: dir };
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, env, encoding: "utf8" });
  git("init", "--quiet");
  return git("ls-files", "-z", "--others", "--exclude-standard").split("\0").filter(Boolean).toSorted();
}

test("a nested .gitignore re-includes what one above it excludes", () => {
  const root = project({
    ".gitignore": "*.json\nbuild\n",
    "agents/.gitignore": "!prompts.json\n!build\n",
    "agents/prompts.json": "",
    "agents/other.json": "",
    "agents/build/graph.ts": "",
    "build/.gitignore": "!*",
    "build/graph.ts": "",
  });
  expect(listProject(root).files).toEqual([
    ".gitignore",
    "agents/.gitignore",
    "agents/build/graph.ts",
    "agents/prompts.json",
  ]);
});

test("reads .gitignore files as Git does", () => {
  const names = ["a", "b", "ab", "a.b", "B", "#a", "!a", "a ", "[a]", "a\\b", "-", "]"];
  const name = fc.constantFrom(...names);
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
  const piece = fc.constantFrom(
    ..."ab.B#!/*? \\-]".split(""),
    ..."* ** *** **/ /** /**/ / a/ /b [a] [!a] [^a] [a-b] [b-a] []a] [[:alpha:]] [[:upper:]b] [[:none:]] [a \\a \\* \\[ [\\]]".split(
      " ",
    ),
    ...names,
  );
  const pattern = fc
    .tuple(fc.constantFrom("", "", "!", "/", "!/"), fc.array(piece, { minLength: 1, maxLength: 4 }))
    .map(([start, pieces]) => start + pieces.join(""));
  const rules = fc
    .tuple(
      fc.array(fc.oneof(pattern, path, name), { maxLength: 5 }),
      fc.constantFrom("\n", "\r\n"),
      fc.constantFrom("", "\uFEFF"),
    )
    .map(([patterns, end, mark]) => mark + patterns.join(end));
  const tree = fc.record({
    files: fc.uniqueArray(path, { minLength: 8, maxLength: 30 }),
    root: rules,
    nested: fc.array(fc.tuple(path, rules), { maxLength: 4 }),
  });
  const cases = fc.sample(tree, { seed: 7, numRuns: 150 }).map(({ files, root, nested }) => {
    const isDirectory = (file: string) => files.some((other) => other.startsWith(`${file}/`));
    return {
      ...empty(...files.filter((file) => !isDirectory(file))),
      ".gitignore": root,
      ...Object.fromEntries(
        nested.filter(([at]) => isDirectory(at)).map(([at, text]) => [`${at}/.gitignore`, text] as const),
      ),
    } as Record<string, string>;
  });
  // directories of one repository, because a process takes longer than a tree
  const repository = project(
    Object.fromEntries(
      cases.flatMap((files, i) => Object.entries(files).map(([path, text]) => [`${i}/${path}`, text] as const)),
    ),
  );
  const listed = listByGit(repository);
  for (const [i, files] of cases.entries()) {
    const expected = listed.filter((path) => path.startsWith(`${i}/`)).map((path) => path.slice(`${i}/`.length));
    expect({ files, kept: listProject(join(repository, String(i))).files }).toEqual({ files, kept: expected });
  }
});

test("patterns of .dockerignore match from the root, the last one decides, and it re-includes below directories", () => {
  const keeps = (rules: string, ...paths: string[]) =>
    listProject(project({ ".dockerignore": rules, ...empty(...paths) })).files.filter((file) => paths.includes(file));
  expect(
    keeps("# text\n data \n*.md\n", "data/a", "src/data/prompt.txt", "README.md", "src/README.md", "DATA/a"),
  ).toEqual(["DATA/a", "src/README.md", "src/data/prompt.txt"]);
  expect(keeps("**/*.md\n!docs/*.md", "a.md", "src/a.md", "docs/a.md", "docs/b/a.md")).toEqual(["docs/a.md"]);
  expect(keeps("*\n!src\nsrc/test\n!src/test/keep", "a", "src/b", "src/test/c", "src/test/keep/d")).toEqual([
    "src/b",
    "src/test/keep/d",
  ]);
  expect(keeps("/a\n./b/../c/\nd?\n[e-f]/**", "a", "b", "c/x", "d1", "d12", "e/x", "g/x")).toEqual(["b", "d12", "g/x"]);
  expect(keeps("a**b\n\\*\n", "ab", "a/x/b", "axb", "*", "x")).toEqual(["axb", "x"]);
  expect(() => keeps("[b-a]", "a")).toThrow('"[b-a]" in .dockerignore is invalid');
});

test("excludes what .gitignore or .dockerignore excludes, packages, .env files and links", () => {
  const root = project({
    ".gitignore": "a\n",
    ".dockerignore": "b\n!a\n",
    ...empty("a", "b", "c", ".env", ".env.example", "node_modules/x/y"),
  });
  symlinkSync("c", join(root, "link"));
  expect(listProject(root)).toEqual({ files: [".dockerignore", ".env.example", ".gitignore", "c"], links: ["link"] });
});
