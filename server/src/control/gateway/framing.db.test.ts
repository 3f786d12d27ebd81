/** The gateway between callers and instances that write HTTP by hand. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

import { afterAll, expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { serveFrom } from "../../../test/scripted-deployment.ts";
import { until } from "../../../test/until.ts";

const here = await testControlPlane({ HEDDLE_GATEWAY_HOLD_SECONDS: "2", HEDDLE_LOG_LEVEL: "silent" });
const gatewayPort = Number(new URL(here.url).port);

let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/** What instances have received, by connection. */
const received: string[] = [];
const instance = createServer((socket: Socket) => {
  const n = received.push("") - 1;
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    received[n] += chunk.toString("latin1");
    // what a caller sent comes at once, or soon
    setTimeout(() => socket.end(Buffer.from(answer, "latin1")), 50);
  });
});
instance.listen(0, "127.0.0.1");
await once(instance, "listening");
afterAll(() => void instance.close());
await serveFrom((instance.address() as AddressInfo).port, "scripted", here);

/** Sends bytes to the gateway, and returns all that it answers until it closes or is silent. */
async function send(text: string): Promise<string> {
  const socket = connect(gatewayPort, "127.0.0.1");
  let heard = "";
  let at = performance.now();
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => ((heard += chunk.toString("latin1")), (at = performance.now())));
  socket.write(Buffer.from(text, "latin1"));
  await until(() => socket.destroyed || (heard !== "" && performance.now() - at > 100), "the gateway answers");
  socket.destroy();
  return heard;
}

const INNER = "POST /inner HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

test.each(["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PUT", "PATCH", "PROPFIND"])(
  "the body of a %s request never becomes a separate request",
  async (method) => {
    received.length = 0;
    const head = `${method} /d/scripted/outer HTTP/1.1\r\nHost: localhost\r\n`;
    await send(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk(INNER)}`);
    await send(`${head}Content-Length: ${INNER.length}\r\n\r\n${INNER}`);
    expect(received).toHaveLength(2);
    expect(received[0]).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
    expect(received[0]).toContain(`\r\n\r\n${chunk(INNER)}`);
    expect(received[1]).toMatch(new RegExp(`\\r\\ncontent-length: ${INNER.length}\\r\\n`, "i"));
    expect(received[1]!.endsWith(`\r\n\r\n${INNER}`)).toBe(true);
  },
);

test("a request with a Trailer header is forwarded without it", async () => {
  received.length = 0;
  const head = "POST /d/scripted/x HTTP/1.1\r\nHost: localhost\r\nTrailer: x-a\r\nContent-Length: 2\r\n";
  expect(await send(`${head}\r\nok`)).toMatch(/^HTTP\/1\.1 200 /);
  expect(received[0]).not.toMatch(/trailer/i);
});

test.each([
  ["a status below 100", "HTTP/1.1 042 x\r\nContent-Length: 0\r\n\r\n"],
  ["a control character in the reason", "HTTP/1.1 200 a\x01b\r\nContent-Length: 0\r\n\r\n"],
  ["a control character in a header", "HTTP/1.1 200 OK\r\nx: a\x01\r\nContent-Length: 0\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"],
  ["no HTTP", "SSH-2.0-x\r\n"],
  ["an upgrade that was not asked for", "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"],
])("an instance whose answer has %s costs its caller a 502, and no other caller", async (_, text) => {
  answer = text;
  expect(await send("GET /d/scripted/x HTTP/1.1\r\nHost: localhost\r\n\r\n")).toMatch(/^HTTP\/1\.1 502 /);
  expect((await fetch(`${here.url}/ok`)).status).toBe(200);
});
