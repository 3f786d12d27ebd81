import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { readImageKeys } from "./image-keys.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-image-keys-"));
afterAll(() => rmSync(directory, { recursive: true }));

const read = (config: object) => {
  const file = join(directory, "langgraph.json");
  writeFileSync(file, JSON.stringify(config));
  return readImageKeys(file);
};

test("reads the base image, the lines and the version of Node.js", async () => {
  const lines = [
    "RUN apt-get update \\\n  && apt-get install -y \\\n  # for PDF\n  ghostscript",
    "ENV A=--from",
    "copy a b",
  ];
  expect(await read({ base_image: "a/b:1", dockerfile_lines: lines.slice(0, 1), node_version: 22 })).toEqual({
    baseImage: "a/b:1",
    lines: ["RUN apt-get update \\", "  && apt-get install -y \\", "  # for PDF", "  ghostscript"],
    nodeVersion: "22",
  });
  expect((await read({ dockerfile_lines: lines.slice(2) })).lines).toEqual(["copy a b"]);
  const flags = ["COPY --chown=1:1 --chmod=755 --link a b", "ADD --checksum=sha256:0 --unpack=true a b", "RUN a --b"];
  expect((await read({ dockerfile_lines: flags })).lines).toEqual(flags);
  expect(await read({})).toEqual({ baseImage: null, lines: [], nodeVersion: null });
});

test.each([
  ["another image", "FROM alpine"],
  ["another image in lower case", "  from alpine"],
  ["files of another image", "COPY --from=localhost/heddle-deployments/a:1 / /stolen"],
  ["a mount of another image", "RUN --mount=type=bind,from=a,target=/b ls"],
  ["a flag split over lines", "COPY --fr\\\nom=a / /stolen"],
  ["a flag split by a comment", "COPY --fr\\\n# x\nom=a / /stolen"],
  ["an instruction after a comment that seems to continue", "# a \\\nFROM alpine"],
  ["an instruction after an empty line in a continuation", "RUN true \\\n\nFROM alpine"],
  ["the engine's network", "RUN --network=host ls"],
  ["a remote file", "ADD http://169.254.169.254/latest /meta"],
  ["a remote repository", "ADD git@example.com:a/b.git /b"],
  ["a flag that an engine may add", "RUN --secret=id=token cat /run/secrets/token"],
  ["a flag of another instruction", "RUN --chown=1 ls"],
  ["a flag after an allowed one", "COPY --chown=1:1 --context=other a b"],
  ["a remote repository's history", "ADD --keep-git-dir=true a b"],
  ["a trigger", "ONBUILD RUN ls"],
  ["a here-document", "RUN <<EOF\nls\nEOF"],
])("rejects %s", async (_, line) => {
  await expect(read({ dockerfile_lines: [line] })).rejects.toThrow(/^dockerfile_lines of langgraph\.json: ".*" is not/);
});
