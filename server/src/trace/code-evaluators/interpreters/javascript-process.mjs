// Process that evaluates JavaScript, one evaluation after another. The trace server writes orders to descriptor 3 and
// reads replies from descriptor 4, both as a length of four bytes and JSON. A byte on descriptor 0 announces an order,
// and its end ends the process. A reply whose length has its highest bit set is a request to another host, whose answer
// follows on descriptor 3. Descriptor 1 carries lines: "ready" or why not; after an evaluation "end", with a
// reason if the process shall not be used again.
//
// Code runs in a worker thread, so that this thread can end the process while the code is in a loop that nothing
// interrupts. It ends with SIGKILL, because an exit would wait for the worker.
import { Socket } from "node:net";
import process from "node:process";
import { Worker } from "node:worker_threads";

const HEADER = 4;
const IS_REQUEST = 0x80000000;
/** The memory of an instance is released late. A process that has grown to this is not used again. */
const MAX_RESIDENT = 192 * 1024 * 1024;
const end = () => process.kill(process.pid, "SIGKILL");
const limits = JSON.parse(process.argv[2]);

const commands = new Socket({ fd: 0 });
const status = new Socket({ fd: 1 });
const orders = new Socket({ fd: 3 });
const replies = new Socket({ fd: 4 });

const worker = new Worker(new URL("javascript-evaluation.mjs", import.meta.url), {
  workerData: limits,
  env: {},
  resourceLimits: { maxOldGenerationSizeMb: 128 },
});
worker.once("error", end);
worker.on("message", (reply) => {
  if (reply === "ready") return status.write(`ready ${process.version}\n`);
  if (reply.request) return replies.write(frame(reply.request, IS_REQUEST));
  const isLarge = process.memoryUsage.rss() > MAX_RESIDENT;
  replies.write(frame(reply, 0), () => status.write(isLarge ? "end large\n" : "end\n"));
});

function frame(text, flag) {
  const body = Buffer.from(text);
  const header = Buffer.alloc(HEADER);
  header.writeUInt32BE(flag + body.length);
  return Buffer.concat([header, body]);
}

commands.resume();
for (const stream of [commands, status, orders, replies]) stream.on("close", end).on("error", end);

// a chunk may hold several frames, as answers to concurrent requests do, or a part of one
let chunks = [];
let size = 0;
orders.on("data", (chunk) => {
  chunks.push(chunk);
  size += chunk.length;
  while (size >= HEADER) {
    if (chunks[0].length < HEADER) chunks = [Buffer.concat(chunks)];
    const end = HEADER + chunks[0].readUInt32BE();
    if (size < end) return;
    const all = Buffer.concat(chunks);
    chunks = [all.subarray(end)];
    size -= end;
    worker.postMessage(all.toString("utf8", HEADER, end));
  }
});
