import { gzipSync } from "node:zlib";

import { expect } from "vitest";

import type { Call } from "./call.ts";
import { until } from "./until.ts";

/** Archive entries written by hand, including ones that no archiver would write. */
export interface TarEntry {
  path: string;
  text?: string;
  type?: string;
  link?: string;
  mode?: number;
}

/** Returns gzip of tar (POSIX ustar), of files by path or of arbitrary entries. */
export function createArchive(files: Record<string, string> | TarEntry[]): Buffer {
  const entries = Array.isArray(files) ? files : Object.entries(files).map(([path, text]) => ({ path, text }));
  const blocks = entries.flatMap((entry) => tarBlocks(entry));
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function tarBlocks({ path, text = "", type = "0", link = "", mode = 0o644 }: TarEntry): Buffer[] {
  const body = Buffer.from(text);
  const header = Buffer.alloc(512);
  header.write(path, 0, 100);
  header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
  return [header, body, padding];
}

/** Returns a graph that echoes its input and a fixed word; `slow` waits in steps. */
export const graphProject = (word: string, more: Record<string, string> = {}): Record<string, string> => ({
  "langgraph.json": JSON.stringify({ graphs: { echo: "./graph.mjs:graph" } }),
  "graph.mjs": `import { Annotation, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ text: Annotation(), word: Annotation(), wait: Annotation(), env: Annotation(),
  steps: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }) });
const step = (name) => async (state) => {
  if (state.wait) await new Promise((done) => setTimeout(done, state.wait));
  console.log("step " + name + " of ${word}");
  return { steps: [name + ":${word}"], word: "${word}", env: process.env.GREETING ?? null };
};
export const graph = new StateGraph(State).addNode("one", step("one")).addNode("two", step("two"))
  .addEdge("__start__", "one").addEdge("one", "two").addEdge("two", "__end__").compile();
`,
  ...more,
});

export interface Deployed {
  id: string;
  revision: string;
}

/** Creates a deployment as the command-line clients do. */
export async function createDeployment(
  call: Call,
  name: string,
  secrets: { name: string; value: string }[] = [],
): Promise<string> {
  const created = await call("POST", "/v2/deployments", {
    name,
    source: "internal_source",
    source_config: { deployment_type: "dev" },
    source_revision_config: {},
    secrets,
  });
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  expect(created.json.latest_revision_id).toBeNull();
  return created.json.id;
}

export async function upload(call: Call, id: string, archive: Buffer): Promise<string> {
  const { json } = await call("POST", `/v2/deployments/${id}/upload-url`);
  const url = new URL(json.upload_url);
  const sent = await call("PUT", url.pathname + url.search, new Uint8Array(archive), {
    "Content-Type": "application/gzip",
  });
  expect(`${sent.status} ${sent.text}`).toMatch(/^200/);
  return json.object_path;
}

/** Uploads an archive and creates a revision of it. @returns the revision's id */
export async function deployArchive(call: Call, id: string, archive: Buffer, body: object = {}): Promise<string> {
  const path = await upload(call, id, archive);
  const changed = await call("PATCH", `/v2/deployments/${id}`, {
    revision_source: "internal_source",
    source_revision_config: { source_tarball_path: path, langgraph_config_path: "langgraph.json" },
    ...body,
  });
  expect(`${changed.status} ${changed.text}`).toMatch(/^200/);
  return changed.json.latest_revision_id;
}

export async function revisionStatus(call: Call, id: string, revision: string): Promise<string> {
  return (await call("GET", `/v2/deployments/${id}/revisions/${revision}`)).json.status;
}

/** Waits for a final status, and throws with the reason when it is another one. */
export async function untilStatus(
  call: Call,
  id: string,
  revision: string,
  wanted: string,
  timeout = 60_000,
): Promise<void> {
  const final = /DEPLOYED|FAILED|SKIPPED/;
  let status = "";
  const hasEnded = async () => {
    status = await revisionStatus(call, id, revision);
    return final.test(status) || status === wanted;
  };
  await until(hasEnded, `revision ${revision} is ${wanted}`, timeout / 1000);
  if (status === wanted) return;
  const { json } = await call("GET", `/v2/deployments/${id}/revisions/${revision}`);
  const logs = [...(await logLines(call, id, revision, "build")), ...(await logLines(call, id, revision, "deploy"))];
  expect.fail(`the revision is ${status}, not ${wanted}: ${json.status_message}\n${logs.join("\n")}`);
}

export async function logLines(call: Call, id: string, revision: string, kind: "build" | "deploy"): Promise<string[]> {
  const { json } = await call("POST", `/v1/projects/${id}/revisions/${revision}/${kind}_logs`, { limit: 1000 });
  return json.logs.map((line: { message: string }) => line.message);
}
