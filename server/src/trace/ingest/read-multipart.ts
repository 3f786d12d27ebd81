import { Dicer } from "@fastify/busboy";

import { AppError, unprocessable } from "../../base/errors.ts";

/** One part: its name, the file name if it has one, its content type without parameters, and its bytes. */
export interface Part {
  name: string;
  filename: string | undefined;
  type: string;
  content: Buffer;
}

/** More parts than a request within the SDKs' size limits has. */
const MAX_PARTS = 50_000;

/**
 * The parts of a multipart/form-data body. Lengths that parts declare (`Content-Length`, or `; length=N` beside the
 * content type, contract §1.5) are compared with what came.
 * @throws 400 for a body that isn't what its Content-Type says, 415 for another Content-Type
 */
export async function readMultipart(contentType: string, body: AsyncIterable<Buffer>): Promise<Part[]> {
  const boundary = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  if (!boundary) throw new AppError(415, "Content-Type must be multipart/form-data with a boundary");
  const dicer = new Dicer({ boundary: boundary[1] ?? boundary[2]! });
  const parts: Part[] = [];
  let failure: Error | undefined;
  // the parser is through before its parts are read: they are streams, and end some turns later
  const ends: Promise<void>[] = [];
  const finished = new Promise<void>((resolve) => {
    dicer.on("finish", resolve);
    dicer.on("error", (error: Error) => {
      failure ??= new AppError(400, `The multipart body can't be read: ${error.message}`);
      resolve();
    });
  });
  dicer.on("part", (stream) => {
    ends.push(new Promise((resolve) => stream.on("end", resolve).on("error", resolve)));
    const chunks: Buffer[] = [];
    let headers: Record<string, string[]> = {};
    stream.on("header", (given: object) => (headers = given as Record<string, string[]>));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on(
      "error",
      (error: Error) => (failure ??= new AppError(400, `A multipart part can't be read: ${error.message}`)),
    );
    stream.on("end", () => {
      try {
        if (parts.length >= MAX_PARTS) throw unprocessable(`More than ${MAX_PARTS} parts`);
        parts.push(readPart(headers, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
      } catch (error) {
        failure ??= error as Error;
      }
    });
  });
  try {
    for await (const chunk of body) {
      if (failure) break;
      dicer.write(chunk);
    }
  } finally {
    dicer.end();
  }
  await finished;
  if (!failure) await Promise.all(ends);
  if (failure) throw failure;
  return parts;
}

function readPart(headers: Record<string, string[]>, content: Buffer): Part {
  const disposition = headers["content-disposition"]?.[0] ?? "";
  const name = parameterOf(disposition, "name");
  if (name === undefined) throw new AppError(400, "A multipart part has no name");
  if (headers["content-encoding"]) throw new AppError(400, "Parts can't have a Content-Encoding of their own");
  const contentType = headers["content-type"]?.[0] ?? "application/octet-stream";
  const declared = headers["content-length"]?.[0] ?? /;\s*length=(\d+)/i.exec(contentType)?.[1];
  if (declared !== undefined && Number(declared) !== content.length) {
    throw new AppError(400, `A multipart part declares ${declared} bytes and has ${content.length}`);
  }
  return {
    name,
    filename: parameterOf(disposition, "filename"),
    type: contentType.split(";")[0]!.trim().toLowerCase(),
    content,
  };
}

/** Of `form-data; name="x"; filename="y"`; quoted or not. */
function parameterOf(header: string, key: "name" | "filename"): string | undefined {
  const found = new RegExp(`;\\s*${key}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, "i").exec(header);
  return found ? (found[1] ?? found[2]!).replace(/\\(.)/g, "$1") : undefined;
}
