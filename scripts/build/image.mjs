// Builds the image of Dockerfile, and prints its size and the size that it adds to its base image:
//
//     node scripts/build/image.mjs [--base node:24-bookworm-slim] [--limit 500] [--tag heddle] [--chdb chdb@3.4.0]
//                            [--engine "podman --root DIR"] [-- OPTIONS OF build]
//
// Exits with 1 if the image is larger than the limit, in MB (10^6 bytes, uncompressed).
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: "string", default: "node:24-bookworm-slim" },
    limit: { type: "string", default: "500" },
    tag: { type: "string", default: "heddle" },
    chdb: { type: "string", default: "" },
    engine: { type: "string", default: "docker" },
  },
});
const [engine, ...prefix] = values.engine.split(" ");
const call = (args, stdio) => execFileSync(engine, [...prefix, ...args], { encoding: "utf8", stdio });
const root = fileURLToPath(new URL("../..", import.meta.url));
const options = [
  ["--build-arg", `NODE_IMAGE=${values.base}`],
  ["--build-arg", `CHDB=${values.chdb}`],
  ["--tag", values.tag],
];
call(["build", ...options.flat(), ...positionals, root], ["ignore", "inherit", "inherit"]);
const megabytes = (image) => Number(call(["image", "inspect", "--format", "{{.Size}}", image])) / 1e6;
const [size, base] = [megabytes(values.tag), megabytes(values.base)];
const added = size - base;
console.log(
  `${values.tag}: ${size.toFixed(0)} MB (${base.toFixed(0)} MB of ${values.base}, ${added.toFixed(0)} MB of Heddle)`,
);
if (size > Number(values.limit)) {
  console.error(`The image is larger than ${values.limit} MB.`);
  process.exitCode = 1;
}
