import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, expect, test } from "vitest";

import { bundle, loadBundler } from "./bundle.ts";

const NODE_MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));
const dirs: string[] = [];
afterAll(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

const UI = {
  "package.json": "{}",
  "src/ui.tsx": 'import "./styles.css";\nexport default { card: () => <p className="bg-red-500 p-4">hi</p> };',
  "src/styles.css": '@import "tailwindcss";\n.own { color: red }',
};

/** Creates a project with some of the repository's packages. */
async function styles(files: Record<string, string>, packages: string[]): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "heddle-styles-"));
  dirs.push(dir);
  for (const [name, text] of Object.entries({ ...UI, ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  for (const name of packages) {
    mkdirSync(dirname(join(dir, "node_modules", name)), { recursive: true });
    symlinkSync(join(NODE_MODULES, name), join(dir, "node_modules", name));
  }
  const built = await bundle(await loadBundler(dir), { dir, agent: "agent", entry: "./src/ui.tsx", shared: [] });
  return Buffer.from(built.get("entrypoint.css")!).toString();
}

test("builds Tailwind's classes with the project's esbuild-plugin-tailwindcss", async () => {
  const css = await styles({}, ["tailwindcss", "esbuild-plugin-tailwindcss"]);
  expect(css).toMatch(/\.bg-red-500\{/);
  expect(css).toContain(".own{");
  expect(css).not.toContain(".bg-blue-500");
});

test("builds Tailwind's classes with the project's @tailwindcss/postcss", async () => {
  expect(await styles({}, ["tailwindcss", "@tailwindcss/postcss", "postcss"])).toMatch(/\.bg-red-500\{/);
});

test.each([
  ["names", `export default { plugins: ["@tailwindcss/postcss"] };`],
  ["names with options", `export default { plugins: { "@tailwindcss/postcss": {} } };`],
])("applies the plugins of postcss.config.mjs: %s", async (_, config) => {
  const packages = ["tailwindcss", "@tailwindcss/postcss", "postcss"];
  expect(await styles({ "postcss.config.mjs": config }, packages)).toMatch(/\.bg-red-500\{/);
});

test("applies a PostCSS plugin of the project's own, also to CSS modules", async () => {
  const plugin = `{ postcssPlugin: "blue", Declaration(node) { if (node.value === "red") node.value = "blue"; } }`;
  const css = await styles(
    { "postcss.config.cjs": `module.exports = { plugins: [${plugin}] };`, "src/styles.css": ".own { color: red }" },
    ["postcss"],
  );
  expect(css).toContain("#00f");
});

test("names the package of a PostCSS configuration that is not installed", async () => {
  const config = `export default { plugins: ["postcss-nowhere"] };`;
  await expect(styles({ "postcss.config.mjs": config }, ["postcss"])).rejects.toThrow(
    /postcss\.config\.mjs names postcss-nowhere, which is not installed/,
  );
});
