/**
 * Serves the checkpoints of Python graph hosts, as an agent server does, for the pytest suite: each connection to a
 * Unix socket is a host. Arguments: the socket's path, the database, and the milliseconds after which an unreachable
 * database is an error.
 */
import { createServer } from "node:net";

import { CheckpointDatabase } from "../../graph-host/src/checkpoints/checkpoint-database.ts";
import { ServedCheckpoints } from "../../graph-host/src/checkpoints/served-checkpoints.ts";
import { type CheckpointFrame, encodeFrame, FrameReader } from "../../host-kit/src/host-protocol.ts";

const [path, uri, awayMs] = process.argv.slice(2) as [string, string, string];
const database = new CheckpointDatabase(uri, { awayMs: Number(awayMs) });

createServer((socket) => {
  const served = new ServedCheckpoints(database, (result, body) => socket.write(encodeFrame(result, body)));
  const reader = new FrameReader<CheckpointFrame>((frame, body) => served.receive(frame, body));
  socket.on("data", (chunk: Buffer) => reader.push(chunk));
  socket.on("error", () => {});
}).listen(path);
// ends with the tests
process.stdin.resume().on("end", () => process.exit(0));
