import { get } from "node:http";

/** More than the metrics of an agent server with a thousand graphs. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface InstanceAnswer {
  status: number;
  text: string;
}

/**
 * Reads an instance's answer: users' code may listen at its port, and answer without an end. Never throws; null for no
 * answer, one that is too large, and one that is not complete in time.
 */
export function askInstance(target: { host: string; port: number; path: string }, timeoutMs: number) {
  return new Promise<InstanceAnswer | null>((resolve) => {
    const finish = (answer: InstanceAnswer | null): void => {
      clearTimeout(timer);
      resolve(answer);
      request.destroy();
    };
    const request = get({ ...target, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) finish(null);
        else chunks.push(chunk);
      });
      response.on("end", () =>
        finish({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
      response.on("error", () => finish(null));
    });
    const timer = setTimeout(() => finish(null), timeoutMs);
    request.on("error", () => finish(null));
    request.on("close", () => finish(null));
  });
}
