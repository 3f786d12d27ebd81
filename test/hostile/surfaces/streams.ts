/** WebSockets of protocol v2 with hostile frames and commands, and event streams with hostile positions. */
import { connect } from "node:net";

import fc from "fast-check";

import { valuesOf } from "../from-schema.ts";
import { encodeRequest, type HttpInput } from "../http-input.ts";
import { changeText, HOSTILE_TEXTS, mutate, mutations, sizes, textChanges, writeJson } from "../json-values.ts";
import { encodePieces, type Pieces } from "../pieces.ts";
import { type Outcome, runHttp, type Session, type Surface } from "../surface.ts";
import type { World } from "../world.ts";
import { callers } from "./json.ts";

const HANDSHAKE: readonly (readonly [string, string])[] = [
  ["connection", "Upgrade"],
  ["upgrade", "websocket"],
  ["sec-websocket-version", "13"],
  ["sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="],
];

/** One frame; `length` overrides the true one. */
interface Frame {
  opcode: number;
  flags: number;
  isMasked: boolean;
  length: number | null;
  content: Pieces;
}

interface StreamInput {
  http: HttpInput;
  frames: Frame[];
}

const METHODS = [
  "subscription.subscribe",
  "subscription.unsubscribe",
  "run.start",
  "input.respond",
  "input.inject",
  "state.get",
  "state.listCheckpoints",
  "state.list_checkpoints",
  "state.fork",
  "agent.getTree",
  "agent.get_tree",
  "run.cancel",
  "x",
  "",
  "__proto__",
];
const CHANNELS = [
  "values",
  "updates",
  "messages",
  "tools",
  "lifecycle",
  "input",
  "checkpoints",
  "tasks",
  "custom",
  "custom:x",
  "x",
  "",
];

const commandSchema = {
  type: "object",
  properties: {
    id: { type: "integer", minimum: 0 },
    method: { enum: METHODS },
    params: {
      type: "object",
      properties: {
        channels: { type: "array", items: { enum: CHANNELS } },
        namespaces: { type: "array", items: { type: "array", items: { type: "string" } } },
        depth: { type: "integer", minimum: 0 },
        assistant_id: { enum: ["echo", "counter", "approval", "none"] },
        input: {
          anyOf: [{ type: "object", properties: { text: { type: "string" }, add: { type: "integer" } } }, true],
        },
        config: { type: "object", additionalProperties: true },
        metadata: { type: "object", additionalProperties: true },
        namespace: { type: "array", items: { type: "string" } },
        interrupt_id: { type: "string" },
        response: true,
        responses: {
          type: "array",
          items: { type: "object", properties: { interrupt_id: { type: "string" }, response: true } },
        },
        message: { type: "object", properties: { role: { enum: ["user", "system"] }, content: { type: "string" } } },
        keys: { type: "array", items: { type: "string" } },
        limit: { type: "integer" },
        before: { type: "string", format: "uuid" },
        checkpoint_id: { type: "string", format: "uuid" },
        run_id: { type: "string", format: "uuid" },
        subscription_id: { type: "string", format: "uuid" },
      },
    },
  },
  required: ["id", "method"],
};

function frames(world: World): fc.Arbitrary<Frame> {
  const context = { components: {}, ids: world.ids.agent };
  const ids = world.allIds("agent");
  const command = fc
    .tuple(valuesOf(commandSchema, context), mutations(3), textChanges())
    .map(([value, changes, text]) => changeText(writeJson(mutate(value, changes, ids)), text));
  const good = command.map((content): Frame => ({ opcode: 1, flags: 0x80, isMasked: true, length: null, content }));
  const odd = fc.record({
    opcode: fc.integer({ min: 0, max: 15 }),
    flags: fc.constantFrom(0x80, 0x00, 0xc0, 0xf0, 0x10),
    isMasked: fc.boolean(),
    length: fc.option(fc.constantFrom(0, 1, 125, 126, 65_535, 65_536, 2 ** 31, 2 ** 53), { freq: 3 }),
    content: fc.oneof(
      fc.constantFrom<Pieces>([], ["{}"], [{ hex: "ff" }], [{ hex: "03e8" }], [{ hex: "0000" }], ["\0"]),
      sizes().map((times): Pieces => [{ repeat: "[", times }]),
      sizes().map((times): Pieces => [{ repeat: "{},", times }]),
    ),
  });
  return fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: odd });
}

export const streams: Surface<StreamInput> = {
  name: "streams",
  servers: ["agent"],
  weight: 3,
  inputs(world, server) {
    const { thread_id: threads = ["x"], run_id: runs = ["x"] } = world.ids.agent;
    const id = (known: readonly string[]) =>
      fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...known) },
        {
          weight: 1,
          arbitrary: fc
            .constantFrom(...HOSTILE_TEXTS.filter((text) => text !== ""))
            .map((text) => encodeURIComponent(Buffer.from(text).toString())),
        },
      );
    const socket = fc
      .record({ caller: callers(), thread: id(threads), frames: fc.array(frames(world), { maxLength: 6 }) })
      .map(({ caller, thread, frames: sent }): StreamInput => ({
        http: { server, caller, method: "GET", target: `/threads/${thread}/stream/events`, headers: HANDSHAKE },
        frames: sent,
      }));
    const position = fc.constantFrom(
      "0",
      "-1",
      "1",
      "9".repeat(30),
      "1e5",
      "NaN",
      "",
      "null",
      "\xff",
      "1-1",
      "__proto__",
      "0x1",
      "1.5",
      "-",
      "9007199254740993",
    );
    const events = fc
      .record({
        caller: callers(),
        thread: id(threads),
        run: id(runs),
        kind: fc.nat(4),
        position,
        query: fc.constantFrom(
          "",
          "?stream_mode=values",
          "?stream_mode=x&stream_mode=values",
          "?cancel_on_disconnect=x",
          "?last_event_id=-1",
          "?stream_mode=%00",
          "?x-api-key=x",
        ),
        accept: fc.constantFrom("text/event-stream", "*/*", "application/json", "text/html;q=x", ""),
      })
      .map(({ caller, thread, run, kind, position: last, query, accept }): StreamInput => {
        const path = [
          `/threads/${thread}/runs/${run}/stream`,
          `/threads/${thread}/stream`,
          `/runs/${run}/stream`,
          `/threads/${thread}/runs/${run}/join`,
          `/threads/${thread}/stream/events`,
        ][kind]!;
        return {
          http: {
            server,
            caller,
            method: kind === 4 ? "POST" : "GET",
            target: path + query,
            headers: [["last-event-id", last], ...(accept === "" ? [] : ([["accept", accept]] as const))],
            ...(kind === 4 && { body: [`{"channels":["values"],"since":${/^-?\d+$/.test(last) ? last : "0"}}`] }),
          },
          frames: [],
        };
      });
    const inputs = fc.oneof(
      { weight: 2, arbitrary: socket as fc.Arbitrary<StreamInput> },
      { weight: 1, arbitrary: events },
    );
    return () => inputs;
  },
  run: ({ http, frames: sent }, session) =>
    http.headers === HANDSHAKE || http.headers?.some(([name]) => name === "upgrade")
      ? runSocket(http, sent, session)
      : runHttp(http, session),
};

const SOCKET_MS = 250;

/** Opens a WebSocket, sends the frames, and reads what comes back for a moment. */
function runSocket(http: HttpInput, sent: readonly Frame[], { world }: Session): Promise<Outcome> {
  const { head } = encodeRequest(http, world.credentials(http.server, http.caller));
  return new Promise((resolve) => {
    const socket = connect({ port: world.port(http.server), host: "127.0.0.1", noDelay: true });
    let heard = Buffer.alloc(0);
    let timer: NodeJS.Timeout | undefined;
    let isOpen = false;
    const finish = (): void => {
      clearTimeout(timer);
      clearTimeout(patience);
      socket.destroy();
      const text = heard.toString("utf8");
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? "closed";
      const seen = world
        .hiddenFrom(http.caller)
        .find((mark) => text.includes(mark) && !JSON.stringify(sent).includes(mark));
      const isWrong = status.startsWith("5") && status !== "503" ? `a server error: ${text.slice(0, 300)}` : undefined;
      const isInternal = text.includes('"unknown_error"')
        ? `a command failed with an internal error: ${text.slice(-500)}`
        : undefined;
      resolve({
        label: `socket ${status}`,
        problem: isWrong ?? isInternal ?? (seen === undefined ? undefined : `shows what is not the caller's: ${seen}`),
      });
    };
    const patience = setTimeout(finish, 10_000);
    socket.on("error", () => {});
    socket.on("close", finish);
    socket.on("data", (data: Buffer) => {
      if (heard.length < 4_000_000) heard = Buffer.concat([heard, data]);
      if (isOpen || heard.indexOf("\r\n\r\n") === -1) return;
      isOpen = true;
      for (const frame of sent) socket.write(encodeFrame(frame));
      timer = setTimeout(finish, SOCKET_MS);
    });
    socket.write(head);
  });
}

/** RFC 6455 §5.2, with a mask of zeros. */
function encodeFrame({ opcode, flags, isMasked, length, content }: Frame): Buffer {
  const body = encodePieces(content);
  const said = length ?? body.length;
  const mask = isMasked ? 0x80 : 0;
  const size =
    said < 126
      ? Buffer.from([mask | said])
      : said < 65_536
        ? Buffer.from([mask | 126, said >> 8, said & 255])
        : Buffer.concat([Buffer.from([mask | 127]), bigEndian(said)]);
  return Buffer.concat([Buffer.from([flags | opcode]), size, ...(isMasked ? [Buffer.alloc(4)] : []), body]);
}

function bigEndian(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64BE(BigInt(value));
  return buffer;
}
