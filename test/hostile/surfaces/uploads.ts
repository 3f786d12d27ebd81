/**
 * Archives of projects, and repositories with the same contents: entries that leave the directory, links, devices,
 * wrong checksums and sizes, names in every encoding, bombs. A revision of one ends with a reason, and nothing is
 * written outside of its directory.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import fc from "fast-check";

import { compress } from "../http-input.ts";
import { HOSTILE_TEXTS, sizes } from "../json-values.ts";
import { encodePieces, type Pieces } from "../pieces.ts";
import { type Outcome, type Session, sendStep, type Surface } from "../surface.ts";
import type { World } from "../world.ts";

/** What must never exist outside. */
const MARK = "heddle-escaped";

export interface Entry {
  path: string;
  type: string;
  link: string;
  mode: string;
  /** The size that the header names; null: the true one. */
  size: string | null;
  isChecked: boolean;
  content: Pieces;
}

interface UploadInput {
  entries: Entry[];
  many: number;
  coding: "gzip" | "none" | "twice" | "zstd" | "cut" | "tail";
  config: string;
}

const PATHS = [
  ...["langgraph.json", "graph.mjs", "package.json", "a", "a/b", "a/b/c", "./a", "a/./b", "a//b", "a/", "/", ".", ""],
  ...[
    `../${MARK}`,
    `a/../../${MARK}`,
    `/tmp/${MARK}`,
    `..\\${MARK}`,
    `C:\\${MARK}`,
    `a/${MARK}`,
    `link/${MARK}`,
    `link/../../${MARK}`,
  ],
  ...[
    "node_modules/.bin/x",
    ".git/hooks/post-checkout",
    ".npmrc",
    ".env",
    "Dockerfile",
    "é",
    "\uFEFFa",
    "a\nb",
    "a\0b",
    "x".repeat(99),
    "x/".repeat(49),
  ],
];
const LINKS = [
  "",
  "a",
  "..",
  "/etc/passwd",
  "/",
  "../../..",
  "link",
  "./link",
  `/tmp/${MARK}`,
  "a/../..",
  "x".repeat(99),
  "/proc/self/environ",
];

const CONFIGS = [
  '{"graphs":{"a":"./graph.mjs:graph"}}',
  "{}",
  "[",
  "null",
  '{"graphs":{"a":"../../x:y"}}',
  '{"graphs":{"__proto__":"a:b"}}',
  '{"graphs":{"a":"/etc/passwd:x"}}',
  '{"dependencies":["../.."],"graphs":{}}',
  `{"graphs":{"a":"./g.mjs:g"},"env":"../../.env"}`,
  `[${"[".repeat(20_000)}`,
  '{"graphs":{"a":{"path":5}}}',
  '{"graphs":1e400}',
];

export const entries = (): fc.Arbitrary<Entry> =>
  fc.record({
    path: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...PATHS) },
      { weight: 1, arbitrary: fc.constantFrom(...HOSTILE_TEXTS).map((text) => text.slice(0, 99)) },
    ),
    type: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom("0", "0", "2", "5") },
      { weight: 1, arbitrary: fc.constantFrom("1", "3", "4", "6", "7", "x", "g", "L", "K", "S", "\0", "Z", "D") },
    ),
    link: fc.constantFrom(...LINKS),
    mode: fc.constantFrom("0000644", "0000755", "0004755", "0000000", "7777777", "\xff\xff\xff\xff\xff\xff\xff"),
    size: fc.option(
      fc.constantFrom(
        "00000000000",
        "77777777777",
        "00000000777",
        "zzz",
        "\x80\0\0\0\0\0\0\0\0\0\x10",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
      ),
      { freq: 6 },
    ),
    isChecked: fc.oneof({ weight: 12, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    content: fc.oneof(
      fc.constantFrom<Pieces>(
        [],
        ["x"],
        ["30 path=../heddle-escaped-pax\n"],
        ["20 size=99999999999\n"],
        ["99999999999 path=x\n"],
        ["0 x=y\n"],
      ),
      sizes().map((times): Pieces => [{ repeat: "x", times }]),
      fc.constant<Pieces>([{ repeat: "\0", times: 30_000_000 }]),
    ),
  });

/** POSIX ustar, with whatever the entries say. */
export function writeTar(list: readonly Entry[]): Buffer {
  const blocks = list.flatMap(({ path, type, link, mode, size, isChecked, content }) => {
    const body = encodePieces(content);
    const header = Buffer.alloc(512);
    header.write(path, 0, 100);
    header.write(`${mode}\0`, 100, "latin1");
    header.write("0000000\0", 108);
    header.write("0000000\0", 116);
    header.write(size ?? body.length.toString(8).padStart(11, "0"), 124, 12, "latin1");
    header.write("00000000000\0", 136);
    header.write("        ", 148);
    header.write(type, 156, "latin1");
    header.write(link, 157, 100);
    header.write("ustar\x0000", 257, "latin1");
    const sum = header.reduce((total, byte) => total + byte, 0) + (isChecked ? 0 : 1);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

const plain = (path: string, content: Pieces): Entry => ({
  path,
  type: "0",
  link: "",
  mode: "0000644",
  size: null,
  isChecked: true,
  content,
});

export const uploads: Surface<UploadInput> = {
  name: "uploads",
  servers: ["control"],
  weight: 0.3,
  inputs() {
    const inputs = fc.record({
      entries: fc.array(entries(), { maxLength: 5 }),
      many: fc.oneof(
        { weight: 10, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: sizes().map((times) => Math.min(times, 60_000)) },
      ),
      coding: fc.oneof(
        { weight: 8, arbitrary: fc.constant<UploadInput["coding"]>("gzip") },
        { weight: 1, arbitrary: fc.constantFrom<UploadInput["coding"]>("none", "twice", "zstd", "cut", "tail") },
      ),
      config: fc.constantFrom(...CONFIGS),
    });
    return () => inputs;
  },
  run: deploy,
};

function encodeArchive({ entries: list, many, coding, config }: UploadInput): Buffer {
  const more = Array.from({ length: many }, (_, n) => plain(`many/${n}`, []));
  const tar = writeTar([plain("langgraph.json", [config]), ...list, ...more]);
  switch (coding) {
    case "gzip":
      return compress(tar, "gzip");
    case "none":
      return tar;
    case "twice":
      return compress(compress(tar, "gzip"), "gzip");
    case "zstd":
      return compress(tar, "zstd");
    case "cut":
      return compress(tar, "gzip").subarray(0, -20);
    case "tail":
      return Buffer.concat([compress(tar, "gzip"), Buffer.from("x".repeat(2000))]);
  }
}

async function deploy(input: UploadInput, session: Session): Promise<Outcome> {
  const { world } = session;
  const id = await world.takeDeployment();
  try {
    const ask = async (method: string, target: string, body?: unknown) => {
      const answer = await sendStep(
        {
          server: "control",
          caller: "key",
          method,
          target,
          ...(body !== undefined && { body: [JSON.stringify(body)] }),
        },
        session,
      );
      return {
        status: answer.status,
        json: JSON.parse(answer.body.toString("utf8") || "{}") as Record<string, string>,
      };
    };
    const { json: place } = await ask("POST", `/v2/deployments/${id}/upload-url`);
    const url = new URL(place["upload_url"]!);
    const archive = encodeArchive(input);
    const sent = await sendStep(
      {
        server: "control",
        caller: "nobody",
        method: "PUT",
        target: url.pathname + url.search,
        headers: [["content-type", "application/gzip"]],
        body: [{ hex: archive.toString("hex") }],
      },
      session,
    );
    if (sent.status !== 200)
      return {
        label: `upload ${sent.status}`,
        problem: sent.status >= 500 || sent.status === 0 ? `the upload gets ${sent.status}` : undefined,
      };
    const changed = await ask("PATCH", `/v2/deployments/${id}`, {
      revision_source: "internal_source",
      source_revision_config: { source_tarball_path: place["object_path"], langgraph_config_path: "langgraph.json" },
    });
    if (changed.status !== 200)
      return { label: `change ${changed.status}`, problem: `the deployment cannot be changed: ${changed.status}` };
    const ended = await untilEnded(
      async () => (await ask("GET", `/v2/deployments/${id}/revisions/${changed.json["latest_revision_id"]}`)).json,
    );
    return { label: ended.status, problem: findEscape(world) ?? ended.problem };
  } finally {
    world.returnDeployment(id);
  }
}

const ENDED = /DEPLOYED|FAILED|SKIPPED|INTERRUPTED/;
/** Far more than a build without packages takes. */
const BUILD_MS = 120_000;

/** Waits until a revision has ended; it must say why it failed. */
export async function untilEnded(
  read: () => Promise<Record<string, unknown>>,
): Promise<{ status: string; problem?: string | undefined }> {
  for (const deadline = Date.now() + BUILD_MS; Date.now() < deadline; await sleep(150)) {
    const { status = "", status_message: reason } = (await read()) as { status?: string; status_message?: string };
    if (!ENDED.test(status)) continue;
    const isExplained =
      !status.includes("FAILED") ||
      (typeof reason === "string" && reason.length > 10 && !/internal error|undefined/i.test(reason));
    return { status, problem: isExplained ? undefined : `the failure is not explained: ${String(reason)}` };
  }
  return { status: "never", problem: "the revision does not end" };
}

/** Looks where an archive might have written. */
export function findEscape(world: World): string | undefined {
  const { dataDir } = world.command("control");
  const places = [
    "/tmp",
    "/",
    dataDir,
    join(dataDir, ".."),
    join(dataDir, "control"),
    join(dataDir, "control", "builds"),
    join(dataDir, "control", "uploads"),
    process.cwd(),
  ];
  const found = places
    .flatMap((place) => [MARK, `${MARK}-pax`].map((name) => join(place, name)))
    .find((path) => existsSync(path));
  if (found === undefined) return undefined;
  rmSync(found, { recursive: true, force: true });
  return `a file was written outside of the build: ${found}`;
}
