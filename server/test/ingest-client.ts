/** Runs as the SDKs send them, and as they are stored. */
import { randomUUID } from "node:crypto";

import { WORKSPACE } from "./principal.ts";
import type { TestTracePlatform } from "./trace-platform.ts";

export const START = "2026-11-21T10:00:00.123456";
export const ORDER = "20261121T100000123456Z";
export type Json = Record<string, unknown>;

export interface TestPart {
  name: string;
  content: string | Buffer;
  type?: string;
  /** Where the length is sent: the SDKs use both places. */
  length?: "header" | "parameter" | "none";
}

export function multipart(parts: TestPart[]): { body: Buffer; type: string } {
  const boundary = `----test${randomUUID()}`;
  const chunks = parts.map(({ name, content, type = "application/json", length = "parameter" }) => {
    const bytes = Buffer.from(content);
    const parameter = length === "parameter" ? `; length=${bytes.length}` : "";
    const header = length === "header" ? `Content-Length: ${bytes.length}\r\n` : "";
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}${parameter}\r\n${header}\r\n`;
    return Buffer.concat([Buffer.from(head), bytes, Buffer.from("\r\n")]);
  });
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    type: `multipart/form-data; boundary=${boundary}`,
  };
}

export const sampleRun = (id: string, more: Json = {}): Json => ({
  id,
  name: "chat",
  run_type: "llm",
  start_time: START,
  trace_id: id,
  dotted_order: ORDER + id,
  session_name: "tests",
  ...more,
});

export function ingestClient({ call, clickhouse }: Pick<TestTracePlatform, "call" | "clickhouse">) {
  /** Returns a run's merged row, as queries see it. */
  async function stored(id: string): Promise<Json | undefined> {
    const rows = await clickhouse.rows<Json>({
      name: "t",
      query: "select * from runs final where tenant_id = {t:UUID} and id = {id:UUID}",
      params: { t: WORKSPACE, id },
    });
    if (rows.length > 1) throw new Error(`run ${id} is there ${rows.length} times`);
    return rows[0];
  }

  async function send(
    parts: TestPart[],
    pack: (body: Buffer) => Buffer | Promise<Buffer> = (b) => b,
    encoding?: string,
  ) {
    const { body, type } = multipart(parts);
    const headers = { "Content-Type": type, ...(encoding && { "Content-Encoding": encoding }) };
    return call("POST", "/runs/multipart", await pack(body), headers);
  }

  return { stored, send };
}
