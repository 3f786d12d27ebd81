/**
 * Runs everything that the official clients do with prompts, unmodified, against a trace platform that requires keys, by
 * its URL with and without `/api/v1`: the newest `langsmith` of npm and PyPI, and LangChain's hub in both languages. Each
 * client then pulls what the other one pushed.
 *
 *     node --import tsx scripts/versions/prompt-clients.ts
 *
 * The checks are prompts.mjs and prompts.py of conformance/langsmith. Packages are installed into `~/.cache/heddle`.
 * Exits with 1 when a check fails, with 77 when a client cannot be installed.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import { startLockedTraces } from "../../conformance/server.ts";
import { type Check, type Client, installClient, runProgram, SKIPPED } from "./client-programs.ts";

const CLIENTS: Client[] = [
  {
    registry: "npm",
    name: "prompts-npm-0.12.0",
    packages: ["langsmith@0.12.0", "langchain@1.5.14", "@langchain/core@1.4.0", "@langchain/openai@1.6.0"],
  },
  {
    registry: "pypi",
    name: "prompts-pypi-0.15.1",
    packages: ["langsmith==0.15.1", "langchain-classic==1.0.8", "langchain-core==1.8.3", "langchain-openai==1.7.4"],
  },
];
const PROGRAMS = { npm: "prompts.mjs", pypi: "prompts.py" };

/** Texts that parsing and serializing would change. */
const MANIFESTS = [
  '{"kwargs": {"n":1.0,"big":12345678901234567890,"e":1E2}, "lc":1,"id":["a"],"type":"constructor"}',
  '{ "lc":1,\n\t"type":"constructor","id":["a"],"kwargs":{"text":"\\u00e4\\/ä\\u0000 😀","b":{},"a":[ ]} }',
];

type Line = Check & { manifest?: unknown; messages?: string[] };

if (!CLIENTS.map((client) => installClient(client)).every(Boolean)) {
  console.log("prompts: skipped, because a client cannot be installed");
  process.exit(SKIPPED);
}

const server = await startLockedTraces();
let failures = 0;
const fail = (what: string) => {
  failures++;
  console.log(`  ${what}`);
};
try {
  const PEER_WORKSPACE = await addWorkspace();
  await send("POST", "/settings/handle", { tenant_handle: "own" });
  await send("POST", "/settings/handle", { tenant_handle: "peer" }, { "x-tenant-id": PEER_WORKSPACE });
  await checkBytes().catch((error: Error) => fail(`bytes: ${error.message}`));
  const places = ["", "/api/v1"].flatMap((path, n) =>
    CLIENTS.map((client) => ({ client, path, prefix: `${client.registry}${n}`, n })),
  );
  const env = { LANGSMITH_API_KEY: server.key, PEER_WORKSPACE, PEER_HANDLE: "peer", HANDLE: "own" };
  const call = async ({ client, path }: (typeof places)[number], args: string[]) => {
    const run = await runProgram<Line>(client, PROGRAMS, {
      env: { ...env, LANGSMITH_ENDPOINT: server.url + path },
      args,
    });
    const place = `${client.name}, ${server.url}${path}`;
    if (run.code !== 0) fail(`${place}: ${run.errors.slice(-2000)}`);
    for (const { name, error } of run.lines) if (error) fail(`${place}, ${name}: ${error}`);
    return run.lines;
  };
  const started = performance.now();
  const pushed = await Promise.all(places.map((place) => call(place, [place.prefix])));
  const pulled = await Promise.all(
    places.map((place) => call(place, [place.prefix, `${otherRegistry(place.client)}${place.n}`])),
  );
  places.forEach((place, at) => {
    const other = places.findIndex(({ client, n }) => n === place.n && client !== place.client);
    const manifests = manifestsIn(pushed[other]!);
    if (manifests.size === 0) fail(`${place.client.name}: the other client pushed nothing`);
    for (const [name, manifest] of manifests) {
      if (!isDeepStrictEqual(manifestsIn(pulled[at]!).get(name), manifest)) {
        fail(`${place.client.name} pulled another ${name} than ${places[other]!.client.name} pushed`);
      }
    }
  });
  const checks = [...pushed, ...pulled].flat().filter(({ error }) => error === null).length;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  for (const lines of pushed.slice(0, CLIENTS.length)) {
    const messages = lines.find(({ name }) => name === "messages")?.messages;
    if (messages) console.log(messages.map((message) => `  ${message.split("\n")[0]!.slice(0, 240)}`).join("\n"));
  }
  console.log(`prompts: ${checks} checks passed, ${failures} failed (${seconds} s)`);
} finally {
  await server.stop();
}
process.exitCode = failures === 0 ? 0 : 1;

function otherRegistry({ registry }: Client): string {
  return registry === "npm" ? "pypi" : "npm";
}

function manifestsIn(lines: Line[]): Map<string, unknown> {
  return new Map(lines.flatMap(({ name, manifest }) => (manifest === undefined ? [] : [[name, manifest]])));
}

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { "content-type": "application/json", "x-api-key": server.key, ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text;
}

/** Creates a second workspace of the key's organization. @returns its id */
async function addWorkspace(): Promise<string> {
  return (JSON.parse(await send("POST", "/workspaces", { display_name: "Peer" })) as { id: string }).id;
}

/** A manifest comes back with the bytes that were sent. */
async function checkBytes(): Promise<void> {
  await send("POST", "/repos", { repo_handle: "bytes", is_public: false });
  let parent: string | null = null;
  for (const manifest of MANIFESTS) {
    const body = `{"parent_commit":${JSON.stringify(parent)},"manifest":${manifest}}`;
    const { commit } = JSON.parse(await send("POST", "/commits/-/bytes", body)) as { commit: { commit_hash: string } };
    parent = commit.commit_hash;
    assert.ok((await send("GET", `/commits/-/bytes/${parent}?include_model=true`)).includes(`"manifest":${manifest}`));
  }
}
