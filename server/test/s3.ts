import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer as readAll } from "node:stream/consumers";

import { startFauxqs } from "fauxqs";

import { atEnd } from "./at-end.ts";
import { checkSignature, type SigningKey } from "./signature-v4.ts";

/**
 * A separate S3 store: fauxqs, which stores the objects and implements the protocol, behind a gate that checks keys,
 * signatures and permissions, and responds with S3's errors. Path style at `endpoint`, virtual-hosted at
 * `http://BUCKET.s3.test:PORT`, a name that the test has to resolve to 127.0.0.1.
 *
 *     const s3 = await testS3();      // at the top of the file, so that it is stopped after the tests
 *     s3.createBucket("exports");
 *     const credentials = s3.createKey();                       // may do everything
 *     s3.deny(credentials.access_key_id, "s3:DeleteObject");    // from now on
 */
export interface TestS3 {
  endpoint: string;
  port: number;
  createBucket(name: string): void;
  /** Removes a bucket with its contents. */
  dropBucket(name: string): void;
  createKey(options?: { sessionToken?: string }): TestCredentials;
  /** Revokes the key from now on. */
  revokeKey(accessKeyId: string): void;
  deny(accessKeyId: string, ...actions: Action[]): void;
  /** Returns the path under the store of each object, ordered by key. */
  keys(bucket: string, prefix?: string): Promise<string[]>;
  read(bucket: string, key: string): Promise<Buffer>;
  /** Writes an object beside the API, as a person or a fault would. */
  write(bucket: string, key: string, content: string): Promise<void>;
  /** Returns the keys of multipart uploads that were neither completed nor aborted. */
  openUploads(): string[];
  /** Returns `METHOD action bucket/key` of each request since the last call. */
  takeRequests(): string[];
  /** Stops the store; called automatically after the file's tests. */
  stop(): Promise<void>;
}

export type Action =
  | "s3:PutObject"
  | "s3:GetObject"
  | "s3:DeleteObject"
  | "s3:AbortMultipartUpload"
  | "s3:ListBucket"
  | "s3:ListBucketMultipartUploads";

export interface TestCredentials {
  access_key_id: string;
  secret_access_key: string;
  session_token?: string;
}

export async function testS3(): Promise<TestS3> {
  const s3 = await startTestS3();
  atEnd(() => s3.stop());
  return s3;
}

/** Starts a store outside a test; the caller must call `stop`. */
export async function startTestS3(): Promise<TestS3> {
  const store = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  const keys = new Map<string, SigningKey & { denied: Set<string> }>();
  const buckets = new Set<string>();
  const uploads = new Map<string, { bucket: string; key: string }>();
  let requests: string[] = [];

  const gate = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  gate.keepAliveTimeout = 1_000;
  gate.listen(0, "127.0.0.1");
  await once(gate, "listening");
  const { port } = gate.address() as AddressInfo;
  const inside = `http://127.0.0.1:${store.port}`;
  const address = (bucket: string, key: string) =>
    `${inside}/${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const asked = parseTarget(request);
    requests.push(`${request.method} ${asked.action} ${asked.bucket}/${asked.key}`);
    const wrong = checkSignature(request, body, (id) => keys.get(id));
    if (wrong) return reject(request, response, wrong === "InvalidToken" ? 400 : 403, wrong);
    const key = keys.get(/Credential=([^/]+)/.exec(request.headers.authorization ?? "")?.[1] ?? "");
    if (key?.denied.has(asked.action)) return reject(request, response, 403, "AccessDenied");
    if (!buckets.has(asked.bucket)) return reject(request, response, 404, "NoSuchBucket");
    if (asked.action === "s3:ListBucketMultipartUploads") return listUploads(response, asked);
    const outcome = await forward(request, response, asked, body);
    if (outcome.status < 300) noteUpload(request, asked, outcome.body);
  }

  /** Forwards a request to the store, always in path style. */
  async function forward(request: IncomingMessage, response: ServerResponse, asked: Target, body: Buffer) {
    const { method = "GET" } = request;
    const onward = send(inside, { method, path: asked.path, headers: { ...request.headers, host: "127.0.0.1" } });
    onward.end(body);
    const [back] = (await once(onward, "response")) as [IncomingMessage];
    const content = await readAll(back);
    const status = back.statusCode ?? 500;
    response.writeHead(status, back.headers);
    response.end(content);
    return { status, body: content.toString("utf8") };
  }

  function noteUpload({ method }: IncomingMessage, { bucket, key, query }: Target, body: string): void {
    if (method === "POST" && query.has("uploads")) {
      uploads.set(/<UploadId>([^<]+)</.exec(body)?.[1] ?? "", { bucket, key });
    } else if (method !== "PUT" && query.has("uploadId")) uploads.delete(query.get("uploadId")!);
  }

  function listUploads(response: ServerResponse, { bucket, query }: Target): void {
    const prefix = query.get("prefix") ?? "";
    const found = [...uploads].filter(([, upload]) => upload.bucket === bucket && upload.key.startsWith(prefix));
    const items = found.map(([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`);
    const content = `<ListMultipartUploadsResult><Bucket>${bucket}</Bucket>${items.join("")}</ListMultipartUploadsResult>`;
    response.writeHead(200, { "Content-Type": "application/xml" }).end(content);
  }

  return {
    endpoint: `http://127.0.0.1:${port}`,
    port,
    createBucket(name) {
      store.setup({ buckets: [name] });
      buckets.add(name);
    },
    dropBucket(name) {
      buckets.delete(name);
      store.emptyBucket(name);
    },
    createKey({ sessionToken } = {}) {
      const id = `AK${randomBytes(9).toString("hex").toUpperCase()}`;
      const secret = randomBytes(24).toString("base64");
      keys.set(id, { secret, denied: new Set(), ...(sessionToken && { sessionToken }) });
      return { access_key_id: id, secret_access_key: secret, ...(sessionToken && { session_token: sessionToken }) };
    },
    revokeKey: (accessKeyId) => void keys.delete(accessKeyId),
    deny(accessKeyId, ...actions) {
      for (const action of actions) keys.get(accessKeyId)!.denied.add(action);
    },
    async keys(bucket, prefix = "") {
      const found: string[] = [];
      for (let after = ""; ; after = found.at(-1)!) {
        const query = new URLSearchParams({ "list-type": "2", prefix, "start-after": after });
        const text = await (await fetch(`${inside}/${bucket}?${query}`)).text();
        const page = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key!.replaceAll("&amp;", "&"));
        found.push(...page);
        if (page.length === 0 || !/<IsTruncated>true</.test(text)) return found;
      }
    },
    async write(bucket, key, content) {
      const response = await fetch(address(bucket, key), { method: "PUT", body: content });
      if (!response.ok) throw new Error(`${bucket}/${key}: HTTP ${response.status}`);
    },
    async read(bucket, key) {
      const response = await fetch(address(bucket, key));
      if (!response.ok) throw new Error(`${bucket}/${key}: HTTP ${response.status}`);
      return Buffer.from(await response.arrayBuffer());
    },
    openUploads: () => [...uploads.values()].map((upload) => upload.key),
    takeRequests() {
      const taken = requests;
      requests = [];
      return taken;
    },
    async stop() {
      gate.close();
      gate.closeAllConnections();
      await store.stop();
    },
  };
}

interface Target {
  bucket: string;
  key: string;
  action: Action;
  query: URLSearchParams;
  /** Path in path style. */
  path: string;
}

function parseTarget({ method, url = "/", headers }: IncomingMessage): Target {
  const own = /^(.+)\.s3\.test(:\d+)?$/.exec(headers.host ?? "")?.[1];
  const path = own === undefined ? url : `/${own}${url}`;
  const { pathname, searchParams: query } = new URL(path, "http://store");
  const [, bucket = "", ...rest] = pathname.split("/").map(decodeURIComponent);
  const key = rest.join("/");
  return { bucket, key, query, path, action: requiredAction(method ?? "GET", key, query) };
}

function requiredAction(method: string, key: string, query: URLSearchParams): Action {
  if (key === "") return query.has("uploads") ? "s3:ListBucketMultipartUploads" : "s3:ListBucket";
  if (method === "GET" || method === "HEAD") return "s3:GetObject";
  if (method === "DELETE") return query.has("uploadId") ? "s3:AbortMultipartUpload" : "s3:DeleteObject";
  return "s3:PutObject";
}

function reject({ method }: IncomingMessage, response: ServerResponse, status: number, code: string): void {
  const content = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code} it is</Message></Error>`;
  response.writeHead(status, { "Content-Type": "application/xml" }).end(method === "HEAD" ? undefined : content);
}
