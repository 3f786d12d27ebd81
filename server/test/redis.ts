import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { RedisProcess } from "../../test/faults/redis-process.ts";
import { freePort } from "../src/base/free-port.ts";
import { atEnd } from "./at-end.ts";

/** A separate Redis, which a test may stop, freeze and restart. It ends with the test file. */
export async function testRedis(): Promise<RedisProcess> {
  const directory = mkdtempSync(join(tmpdir(), "heddle-redis-"));
  const redis = new RedisProcess(await freePort(), directory);
  await redis.start();
  atEnd(async () => {
    await redis.kill();
    rmSync(directory, { recursive: true, force: true });
  });
  return redis;
}
