// Counts the lines of the repository's code: source written by hand by area, tests with benches and scripts, and
// generated files. Run directly it prints the line that CI prints.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const CODE = /\.(ts|tsx|mts|mjs|cjs|js|py|sql|css|html)$/;
const GENERATED = /(^|\/)(route-tree\.gen\.ts|schema\.sql|[^/]*\.d\.ts)$/;
/** Recorded or seeded data in the form of code. */
const DATA = /^corpus\//;
const TEST = /^(test|conformance|bench|scripts|examples)\/|\.test\.[a-z]+$|\/tests?\//;
/** Areas of the server are its spaces. */
const areaOf = (path) =>
  /^server\/src\/([^/.]+)\//.exec(path)?.[1] ?? (path.includes("/") ? path.split("/")[0] : "root");

/** @param files paths below `root` @returns the counts by area, and of tests and generated files */
export function countLines(root, files) {
  const source = {};
  let tests = 0;
  let generated = 0;
  for (const path of files) {
    if (!CODE.test(path) || DATA.test(path)) continue;
    const lines = readFileSync(`${root}/${path}`, "utf8").split("\n").length - 1;
    if (GENERATED.test(path)) generated += lines;
    else if (TEST.test(path)) tests += lines;
    else source[areaOf(path)] = (source[areaOf(path)] ?? 0) + lines;
  }
  return { source, tests, generated };
}

/** @returns a line such as `lines of source: 120000 (agent 20000, …); tests, benches and scripts: 90000; generated: 9000` */
export function describeLines({ source, tests, generated }) {
  const areas = Object.entries(source).toSorted(([, a], [, b]) => b - a);
  const total = areas.reduce((sum, [, lines]) => sum + lines, 0);
  const shown = areas.map(([area, lines]) => `${area} ${lines}`).join(", ");
  return `lines of source: ${total} (${shown}); tests, benches and scripts: ${tests}; generated: ${generated}`;
}

/** Lists the files that git tracks and that exist; none outside of a repository. */
export function trackedFiles(root) {
  try {
    const options = { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] };
    const list = (...flags) =>
      execFileSync("git", ["ls-files", "-z", ...flags], options)
        .split("\0")
        .filter(Boolean);
    const deleted = new Set(list("--deleted"));
    return list().filter((path) => !deleted.has(path));
  } catch {
    return [];
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url));
// not where this is a part of a bundle (stranger.ts)
if (process.argv[1] === fileURLToPath(import.meta.url) && import.meta.url.endsWith("/count-lines.mjs"))
  console.log(describeLines(countLines(root, trackedFiles(root))));
