import { randomBytes, randomUUID } from "node:crypto";

/** Runs per request, the batch of a busy SDK. */
export const BATCH = 100;

const BOUNDARY = "----LangSmithFormBoundary-bench";

/** Text that compresses about as well as messages do, cut from a few hundred kilobytes generated once. */
const words = Array.from({ length: 4000 }, () => randomBytes(1 + Math.floor(Math.random() * 6)).toString("base64url"));
export const PROSE = Array.from({ length: 60_000 }, () => words[Math.floor(Math.random() ** 2 * words.length)]).join(
  " ",
);
const text = (length: number): string => {
  const from = Math.floor(Math.random() * (PROSE.length - length));
  return PROSE.slice(from, from + length);
};

let clock = Date.now() * 1000;

/** Returns `20261121T100000123456Z`, a microsecond later each time. */
function nextTime(): { iso: string; compact: string } {
  // never behind the time, from which the latency of the runs is measured
  const micros = (clock = Math.max(clock + 1, Date.now() * 1000));
  const ms = Math.floor(micros / 1000);
  const iso = `${new Date(ms).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, "0")}Z`;
  return { iso, compact: iso.replaceAll(/[-:.]/g, "") };
}

/**
 * Builds a request as the JavaScript SDK does: for each run a part with its object and parts for inputs, outputs, extra
 * and events, each with its length beside the content type. Five runs per trace, about 2 kB per run.
 * @param isApart the ends of the runs and their outputs are in a second request, `ends`
 */
export function multipartBody(
  project: string,
  isApart = false,
): { body: Buffer; ends: Buffer | undefined; type: string; ids: string[] } {
  const parts: string[] = [];
  const later: string[] = [];
  const ids: string[] = [];
  const part = (name: string, json: string) => {
    const to = name.startsWith("patch") ? later : parts;
    to.push(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n` +
        `Content-Type: application/json; length=${Buffer.byteLength(json)}\r\n\r\n${json}\r\n`,
    );
  };
  let root = { id: "", order: "" };
  for (let n = 0; n < BATCH; n++) {
    const id = randomUUID();
    const start = nextTime();
    const own = `${start.compact}${id}`;
    const isRoot = n % 5 === 0;
    if (isRoot) root = { id, order: own };
    ids.push(id);
    const end = isApart ? `patch.${id}` : `post.${id}`;
    const place = {
      trace_id: root.id,
      dotted_order: isRoot ? own : `${root.order}.${own}`,
      parent_run_id: isRoot ? undefined : root.id,
    };
    const end_time = Date.now() + 1;
    if (isApart) part(end, JSON.stringify({ id, ...place, end_time }));
    part(
      `post.${id}`,
      JSON.stringify({
        id,
        name: isRoot ? "agent" : "model",
        run_type: isRoot ? "chain" : "llm",
        start_time: start.iso,
        ...(!isApart && { end_time }),
        ...place,
        session_name: project,
        tags: ["bench"],
        child_runs: [],
        execution_order: 1,
      }),
    );
    part(`post.${id}.inputs`, JSON.stringify({ messages: [{ role: "user", content: text(500) }] }));
    const usage = { input_tokens: 120, output_tokens: 80, total_tokens: 200 };
    part(
      `${end}.outputs`,
      JSON.stringify({ messages: [{ role: "assistant", content: text(500) }], usage_metadata: usage }),
    );
    part(
      `post.${id}.extra`,
      JSON.stringify({
        metadata: {
          ls_provider: "bench",
          ls_model_name: "model-1",
          thread_id: root.id,
          environment: "test",
          user: `u${n}`,
        },
        runtime: { library: "langsmith", sdk: "langsmith-js", sdk_version: "0.10.5", runtime: "node" },
      }),
    );
    part(`post.${id}.events`, "[]");
  }
  const close = (list: string[]) => Buffer.from([...list, `--${BOUNDARY}--\r\n`].join(""));
  const ends = isApart ? close(later) : undefined;
  return { body: close(parts), ends, type: `multipart/form-data; boundary=${BOUNDARY}`, ids };
}
