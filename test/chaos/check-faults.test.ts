import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { afterEach, describe, expect, test } from "vitest";

import { readArguments } from "./arguments.ts";
import { FaultProxy } from "../faults/fault-proxy.ts";
import { FAULT_KINDS, planRounds, type Round } from "./plan.ts";
import { applicationName, BackendMessages } from "../faults/postgres-frames.ts";
import { parseFrames } from "./read-tables.ts";

function message(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}

/** A packet that precedes all messages: it has a length and a code, and no type. */
function untypedPacket(code: number, fields = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + fields.length, 0);
  head.writeInt32BE(code, 4);
  return Buffer.concat([head, fields]);
}

const startupPacket = (name: string) => untypedPacket(196_608, Buffer.from(`user\0me\0application_name\0${name}\0\0`));

describe("messages of Postgres", () => {
  const all = [
    message("D", "row"),
    message("A", "notified"),
    message("Z", ""),
    message("A", "again"),
    message("D", "end"),
  ];

  test.each([1, 2, 3, 5, 7, 100])("drops a notification and nothing else in chunks of %i bytes", (size) => {
    let left = 1;
    const messages = new BackendMessages(() => left-- > 0);
    const bytes = Buffer.concat(all);
    const passed: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) passed.push(messages.filter(bytes.subarray(at, at + size)));
    expect(Buffer.concat(passed)).toEqual(Buffer.concat([all[0]!, all[2]!, all[3]!, all[4]!]));
  });

  test("reads the name of a client from its startup packet", () => {
    expect(applicationName(startupPacket("heddle queue"))).toBe("heddle queue");
    expect(applicationName(message("Q", "select 1"))).toBeUndefined();
  });
});

describe("the fault proxy", () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  /** A server that echoes in upper case, a proxy in front of it, and a client of the proxy. */
  async function echo(protocol: "postgres" | "other" = "other") {
    const received: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk) => {
        received.push(String(chunk));
        socket.write(String(chunk).toUpperCase());
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const proxy = await FaultProxy.start((server.address() as AddressInfo).port, protocol);
    const client = connect(proxy.port, "127.0.0.1");
    client.on("error", () => {});
    await once(client, "connect");
    ends.push(
      () => client.destroy(),
      () => proxy.stop(),
      () => void server.close(),
    );
    return { proxy, client, received };
  }

  async function ask(client: Socket, text: string): Promise<string> {
    client.write(text);
    return String((await once(client, "data"))[0]);
  }

  /** `once` would reject on a reset. */
  const whenClosed = (socket: Socket) => new Promise((done) => socket.once("close", done));

  test("forwards data while there is no fault", async () => {
    const { client } = await echo();
    expect(await ask(client, "a")).toBe("A");
    expect(await ask(client, "b")).toBe("B");
  });

  test("resets open connections when it cuts", async () => {
    const { proxy, client } = await echo();
    await ask(client, "a");
    const closed = whenClosed(client);
    proxy.cut();
    await closed;
    expect(proxy.hits).toEqual({ cut: 1 });
  });

  test("forwards a request and drops its response", async () => {
    const { proxy, client, received } = await echo();
    proxy.loseAnswers(1);
    const closed = whenClosed(client);
    let got = "";
    client.on("data", (chunk) => (got += String(chunk)));
    client.write("commit");
    await closed;
    expect(received).toEqual(["commit"]);
    expect(got).toBe("");
  });

  test("drops a request and resets later", async () => {
    const { proxy, client, received } = await echo();
    proxy.swallow(1, 50);
    const closed = whenClosed(client);
    client.write("lost");
    await closed;
    expect(received).toEqual([]);
  });

  test("keeps a half-open connection open and forwards nothing", async () => {
    const { proxy, client, received } = await echo();
    await ask(client, "a");
    const heal = proxy.halfOpen();
    client.write("b");
    await sleep(50);
    expect(received).toEqual(["a"]);
    expect(client.destroyed).toBe(false);
    const closed = whenClosed(client);
    heal();
    await closed;
  });

  test("keeps the order of chunks before and after the end of a delay", async () => {
    const { proxy, client } = await echo();
    let got = "";
    client.on("data", (chunk) => (got += String(chunk)));
    let sent = "";
    const heal = proxy.delay(40);
    for (let i = 0; i < 300; i++) {
      if (i === 200) heal();
      const chunk = `<${i}>`;
      sent += chunk;
      client.write(chunk);
      // less than a timer's resolution of one millisecond apart
      const until = performance.now() + 0.3;
      while (performance.now() < until);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => got.length).toBe(sent.length);
    expect(got).toBe(sent);
  });

  test("delays chunks and keeps their order", async () => {
    const { proxy, client } = await echo();
    const heal = proxy.delay(60);
    const startedAt = performance.now();
    let got = "";
    client.on("data", (chunk) => (got += String(chunk)));
    client.write("a");
    await sleep(20);
    client.write("b");
    heal();
    client.write("c");
    await expect.poll(() => got).toBe("ABC");
    expect(performance.now() - startedAt).toBeGreaterThan(59);
  });

  test.each([80_877_103, 80_877_104])("declines encryption (%i) and reads the name afterwards", async (code) => {
    const { proxy, client, received } = await echo("postgres");
    client.write(untypedPacket(code));
    expect(String((await once(client, "data"))[0])).toBe("N");
    const closed = whenClosed(client);
    proxy.refuse((name) => name === "heddle queue");
    client.write(startupPacket("heddle queue"));
    await closed;
    expect(received).toEqual([]);
  });

  test("does not affect connections that the fault does not match", async () => {
    const { proxy, client } = await echo();
    proxy.halfOpen((name) => name === "another");
    proxy.loseAnswers(1, (name) => name === "another");
    expect(await ask(client, "a")).toBe("A");
  });
});

describe("the plan", () => {
  const first = (count: number, rounds: Iterator<Round>): Round[] =>
    Array.from({ length: count }, () => rounds.next().value as Round);
  const rounds = (seed: number) => first(40, planRounds(seed, FAULT_KINDS));

  test("is the same for the same seed, and different for another", () => {
    expect(rounds(1)).toEqual(rounds(1));
    expect(rounds(1)).not.toEqual(rounds(2));
  });

  test("contains every kind, and a thousand faults per hour of storms and calms", () => {
    const planned = rounds(3);
    expect(new Set(planned.flatMap(({ faults }) => faults.map(({ kind }) => kind))).size).toBe(FAULT_KINDS.length);
    const faults = planned.reduce((sum, round) => sum + round.faults.length, 0);
    const ms = planned.reduce((sum, { stormMs, calmMs }) => sum + stormMs + calmMs + 10_000, 0);
    expect(faults / (ms / 3_600_000)).toBeGreaterThan(1000);
  });

  test("runs only the requested kinds", () => {
    const kinds = first(5, planRounds(4, ["client-cut"]));
    expect(new Set(kinds.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(["client-cut"]));
  });
});

describe("arguments", () => {
  test("accept prefixes of kinds", () => {
    const kinds = readArguments(["--minutes", "2", "--seed", "7", "--faults", "clock-,client-cut"])!.kinds;
    expect(kinds).toEqual(["clock-ahead", "clock-behind", "clock-steps", "client-cut"]);
  });

  test("select the language of the graphs", () => {
    expect(readArguments([])!.language).toBe("javascript");
    expect(readArguments(["--language", "python"])!.language).toBe("python");
  });

  test.each([["--minutes=0"], ["--minutes=x"], ["--seed=1.5"], ["--faults=rain"], ["--language=cobol"], ["--what"]])(
    "reject %s",
    (arg) => {
      expect(() => readArguments([arg])).toThrow();
    },
  );
});

test("parses stored frames with id, event and data", () => {
  const text = 'id: 0\nevent: a\ndata: {"x": 1}\n\n: heartbeat\n\nevent: b\ndata: null\nid: 1\n\n';
  expect(parseFrames(text)).toEqual([
    { id: "0", event: "a", data: '{"x":1}' },
    { id: "1", event: "b", data: "null" },
  ]);
});
