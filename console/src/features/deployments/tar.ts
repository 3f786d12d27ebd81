/**
 * Packs a project in the browser: gzip of tar (POSIX ustar, pax headers for paths that it cannot hold), in the control
 * plane's upload format. Left out is what `heddle deploy` leaves out.
 */
import { ignoredBy } from "../../../../cli/src/core/ignore-rules.ts";

export interface PackedFile {
  /** Path inside the project, with `/`. */
  path: string;
  content: Blob;
}

/** Left out by their names, before ignore files are read: a folder of packages has too many files to read. */
const isLeftOut = ignoredBy(() => "");

/** Leaves out what the project's ignore files and its names exclude. */
export async function withoutIgnored(files: readonly PackedFile[]): Promise<PackedFile[]> {
  const rules = files.filter(({ path }) => path === ".dockerignore" || /(^|\/)\.gitignore$/.test(path));
  const texts = new Map(
    await Promise.all(rules.map(async ({ path, content }) => [path, await content.text()] as const)),
  );
  const isIgnored = ignoredBy((path) => texts.get(path) ?? "");
  const directories = new Map<string, boolean>();
  const isBelowIgnored = (path: string): boolean => {
    const end = path.lastIndexOf("/");
    if (end === -1) return false;
    const directory = path.slice(0, end);
    const known = directories.get(directory);
    if (known !== undefined) return known;
    const answer = isBelowIgnored(directory) || isIgnored(directory, true);
    directories.set(directory, answer);
    return answer;
  };
  return files.filter(({ path }) => !isBelowIgnored(path) && !isIgnored(path, false));
}

const BLOCK = 512;
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

export function packProject(files: PackedFile[]): Promise<Blob> {
  const parts: BlobPart[] = files.flatMap(({ path, content }) => {
    const padding = new Uint8Array((BLOCK - (content.size % BLOCK)) % BLOCK);
    return [...tarHeaders(path, content.size), content, padding];
  });
  const tar = new Blob([...parts, new Uint8Array(2 * BLOCK)]);
  return new Response(tar.stream().pipeThrough(new CompressionStream("gzip"))).blob();
}

function tarHeaders(path: string, size: number): BlobPart[] {
  if (encode(path).length <= 100) return [header(path, size, "0")];
  const record = paxRecord("path", path);
  const padding = new Uint8Array((BLOCK - (record.length % BLOCK)) % BLOCK);
  return [header("PaxHeader", record.length, "x"), record as BlobPart, padding, header("long-path", size, "0")];
}

/** Encodes `<length> <key>=<value>\n`, where the length counts its own digits. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = encode(` ${key}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return encode(`${length} ${key}=${value}\n`);
}

function header(path: string, size: number, type: "0" | "x"): ArrayBuffer {
  const block = new Uint8Array(BLOCK);
  const write = (text: string, at: number) => block.set(encode(text), at);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  write(path, 0);
  write(octal(0o644, 7), 100);
  write(octal(0, 7), 108);
  write(octal(0, 7), 116);
  write(octal(size, 11), 124);
  write(octal(Math.floor(Date.now() / 1000), 11), 136);
  write("        ", 148);
  write(type, 156);
  write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block.buffer;
}

/** Returns the sources in a chosen folder, with paths relative to it. */
export const filesOfFolder = (chosen: Iterable<File>): Promise<PackedFile[]> =>
  withoutIgnored(
    [...chosen]
      .map((file) => ({ path: file.webkitRelativePath.split("/").slice(1).join("/"), content: file as Blob }))
      .filter(({ path }) => path !== ""),
  );

/** Returns dropped files, including those in folders. An archive is returned unchanged. */
export async function filesOfDrop(entries: FileSystemEntry[]): Promise<PackedFile[]> {
  const found: PackedFile[] = [];
  const walk = async (entry: FileSystemEntry, path: string): Promise<void> => {
    if (isLeftOut(path, entry.isDirectory)) return;
    if (entry.isFile) {
      const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
      found.push({ path, content: file });
      return;
    }
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    // a reader returns a hundred at a time, and none at the end
    for (;;) {
      const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (batch.length === 0) return;
      for (const child of batch) await walk(child, path === "" ? child.name : `${path}/${child.name}`);
    }
  };
  // a single folder is the project itself; otherwise the items are its contents
  const [first] = entries;
  if (entries.length === 1 && first!.isDirectory) await walk(first!, "");
  else for (const entry of entries) await walk(entry, entry.name);
  return withoutIgnored(found);
}
