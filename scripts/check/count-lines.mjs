// Counts the lines of the repository's code: source written by hand by area, tests with benches and scripts, and
// generated files. Run directly it prints the line that CI prints.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { trackedFiles } from "./tracked-files.mjs";

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

const root = fileURLToPath(new URL("../..", import.meta.url));
if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log(describeLines(countLines(root, trackedFiles(root))));
