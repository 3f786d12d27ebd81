// The ticker's own stream without a server, in a separate process: answers each message, a number of frames, with the
// milliseconds until the last one and the processor time.
import { graph } from "./project/ticker.ts";

export interface BareStream {
  ms: number;
  cpu: number;
}

async function stream(frames: number): Promise<BareStream> {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  let received = 0;
  for await (const frame of await graph.stream({ frames, pause: 0 }, { streamMode: "custom" })) {
    if (frame) received++;
  }
  if (received !== frames) throw new Error(`the stream brought ${received} of ${frames} frames`);
  const { user, system } = process.cpuUsage(before);
  return { ms: performance.now() - startedAt, cpu: (user + system) / 1000 };
}

process.on("message", (frames: number) => {
  void stream(frames).then((answer) => process.send?.(answer));
});
