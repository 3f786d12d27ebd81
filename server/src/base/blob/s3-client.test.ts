import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

test("clients print no notice of the SDK, and leave no variable for other programs", () => {
  const script = `
    const { createS3Client } = await import(${JSON.stringify(new URL("./s3-client.ts", import.meta.url).href)});
    const agents = { httpAgent: {}, httpsAgent: {} };
    for (const name of ["a", "b"]) (await createS3Client({ bucket: name }, agents)).destroy();
    const left = Object.keys(process.env).filter((name) => name.startsWith("AWS_SDK_JS"));
    // warnings are printed in a later turn
    setTimeout(() => console.log("left: " + left.join()), 50);
  `;
  const repository = fileURLToPath(new URL("../../../..", import.meta.url));
  const args = ["--import", "tsx", "--input-type=module", "-e", script];
  const env = { ...process.env };
  delete env["NODE_NO_WARNINGS"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: repository, env, encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["left: \n", ""]);
});
