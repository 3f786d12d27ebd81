import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  S3Client,
} from "@aws-sdk/client-s3";

import { atEnd } from "../../server/test/at-end.ts";
import { S3_SERVER } from "../../scripts/services/s3-server.mjs";
import { freePort } from "../../server/src/base/free-port.ts";

/**
 * An S3 server with users and bucket policies, for one test file; scripts/services/s3-server.mjs builds it. Start it at the top
 * of the file: vitest does not run an `afterAll` that is declared inside of a `beforeAll`, and the process would be
 * left running.
 */
export interface PolicyServer {
  endpoint: string;
  /** Buckets are directories in it, objects are files. */
  directory: string;
  createBucket(name: string): Promise<void>;
  /** Creates a user without permissions beyond those of policies. */
  createUser(): { access_key_id: string; secret_access_key: string };
  deleteUser(accessKeyId: string): void;
  /** Sets the user's allowed actions in the bucket; other users' stay unchanged. */
  allow(bucket: string, accessKeyId: string, actions: string[]): Promise<void>;
  keys(bucket: string): Promise<string[]>;
  /** Keys of open multipart uploads. */
  openUploads(bucket: string): Promise<string[]>;
}

export async function startPolicyServer(): Promise<PolicyServer> {
  if (!existsSync(S3_SERVER)) throw new Error(`there is no ${S3_SERVER}; make it: node scripts/services/s3-server.mjs`);
  const directory = mkdtempSync(join(tmpdir(), "heddle-s3-"));
  for (const folder of ["iam", "data"]) mkdirSync(join(directory, folder));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const root = { accessKeyId: "root", secretAccessKey: randomBytes(20).toString("hex") };
  const login = ["--access", root.accessKeyId, "--secret", root.secretAccessKey];
  const backend = ["--iam-dir", join(directory, "iam"), "--quiet", "posix", join(directory, "data")];
  const child = spawn(S3_SERVER, [...login, "--port", `127.0.0.1:${port}`, ...backend], { stdio: "ignore" });
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: root });
  atEnd(async () => {
    client.destroy();
    await end(child);
    rmSync(directory, { recursive: true, force: true });
  });
  await answers(endpoint, child);

  const administer = (...args: string[]) => {
    const { status, stderr } = spawnSync(S3_SERVER, ["admin", ...login, "--endpoint-url", endpoint, ...args]);
    if (status !== 0) throw new Error(`versitygw admin ${args[0]}: ${String(stderr)}`);
  };
  const allowed = new Map<string, Map<string, string[]>>();
  return {
    endpoint,
    directory: join(directory, "data"),
    async createBucket(name) {
      await client.send(new CreateBucketCommand({ Bucket: name }));
    },
    createUser() {
      const user = {
        access_key_id: randomBytes(8).toString("hex"),
        secret_access_key: randomBytes(20).toString("hex"),
      };
      administer("create-user", "-a", user.access_key_id, "-s", user.secret_access_key, "-r", "user");
      return user;
    },
    deleteUser(accessKeyId) {
      administer("delete-user", "-a", accessKeyId);
      // a policy that names an unknown user is rejected
      for (const users of allowed.values()) users.delete(accessKeyId);
    },
    async allow(bucket, accessKeyId, actions) {
      const users = allowed.get(bucket) ?? new Map<string, string[]>();
      allowed.set(bucket, users.set(accessKeyId, actions));
      const Statement = [...users].flatMap(([user, all]) => [
        statement(
          user,
          all.filter((action) => !action.startsWith("s3:List")),
          `arn:aws:s3:::${bucket}/*`,
        ),
        statement(
          user,
          all.filter((action) => action.startsWith("s3:List")),
          `arn:aws:s3:::${bucket}`,
        ),
      ]);
      const Policy = JSON.stringify({ Version: "2012-10-17", Statement: Statement.flat() });
      await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
    },
    async keys(bucket) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
      return Contents.map((content) => content.Key ?? "");
    },
    async openUploads(bucket) {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      return Uploads.map((upload) => upload.Key ?? "");
    },
  };
}

const statement = (user: string, Action: string[], Resource: string) =>
  Action.length === 0 ? [] : [{ Effect: "Allow", Principal: { AWS: [user] }, Action, Resource }];

async function answers(endpoint: string, child: ChildProcess): Promise<void> {
  for (let left = 100; left > 0 && child.exitCode === null; left--) {
    try {
      await fetch(endpoint);
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error("versitygw does not answer");
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
