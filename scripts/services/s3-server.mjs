// S3 server that enforces keys and bucket policies, for the suite "services": versitygw, built from its Go module once
// and kept in the user's cache. `node scripts/services/s3-server.mjs` builds it, unless it is already built.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MODULE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0";
const directory = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "heddle", "versitygw-1.8.0");

export const S3_SERVER = join(directory, "versitygw");

/** Returns whether the program is available afterwards; the reason for a failure is on stderr. */
export function buildS3Server() {
  if (existsSync(S3_SERVER)) return true;
  console.log(`building ${MODULE}`);
  const building = `${directory}.${process.pid}`;
  mkdirSync(building, { recursive: true });
  const env = { ...process.env, GOBIN: building, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false -trimpath" };
  const { status, error } = spawnSync("go", ["install", "-ldflags=-s -w", MODULE], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) {
    console.error(`${MODULE} could not be built: ${error ? error.message : `go ended with ${status}`}`);
    return false;
  }
  mkdirSync(directory, { recursive: true });
  renameSync(join(building, "versitygw"), S3_SERVER);
  return true;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = buildS3Server() ? 0 : 1;
