// The published package is built from four workspaces: its dependencies must be exactly theirs.
import { readFileSync } from "node:fs";

const read = (folder) => JSON.parse(readFileSync(new URL(`../../${folder}package.json`, import.meta.url), "utf8"));
const problems = [];
const versions = {};
for (const workspace of ["server", "host-kit", "graph-host", "cli"]) {
  for (const [name, version] of Object.entries(read(`${workspace}/`).dependencies ?? {})) {
    if (versions[name] && versions[name].version !== version) {
      problems.push(
        `${name}: ${workspace} wants ${version}, ${versions[name].workspace} wants ${versions[name].version}`,
      );
    }
    versions[name] ??= { version, workspace };
  }
}
const published = read("").dependencies ?? {};
for (const [name, { version, workspace }] of Object.entries(versions)) {
  if (!published[name]) problems.push(`${name}@${version} of ${workspace}/package.json is missing in package.json`);
  else if (published[name] !== version)
    problems.push(`${name}: package.json has ${published[name]}, ${workspace} ${version}`);
}
for (const name of Object.keys(published)) {
  if (!versions[name]) problems.push(`${name} is in package.json, but no workspace that is published depends on it`);
}
for (const [name, version] of Object.entries({ ...published, ...read("").devDependencies })) {
  if (!/^(npm:.+@)?\d/.test(version)) problems.push(`${name}: ${version} is not an exact version`);
}
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
