// Store that implements the part of S3 that an export needs, in a separate process; prints its port. It keeps only the
// sizes of objects, because a real store runs on other machines and this one shares the exporter's two cores. For
// bench/export.ts.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const sizes = new Map<string, number>();
const uploads = new Map<string, { key: string; bytes: number }>();
let count = 0;

const xml = (name: string, content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${name}>`;

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url!, "http://store");
  const upload = searchParams.get("uploadId");
  let bytes = 0;
  request.on("data", (chunk: Buffer) => (bytes += chunk.length));
  request.on("end", () => {
    const answer = (status: number, headers: Record<string, string | number> = {}, body = "") =>
      response.writeHead(status, headers).end(body);
    const tag = { etag: `"${(++count).toString(16).padStart(32, "0")}"` };
    switch (request.method) {
      case "PUT":
        if (upload === null) sizes.set(pathname, bytes);
        else uploads.get(upload)!.bytes += bytes;
        return answer(200, tag);
      case "POST": {
        if (upload === null) {
          const id = `upload-${count}`;
          uploads.set(id, { key: pathname, bytes: 0 });
          return answer(200, {}, xml("InitiateMultipartUploadResult", `<UploadId>${id}</UploadId>`));
        }
        sizes.set(pathname, uploads.get(upload)!.bytes);
        uploads.delete(upload);
        return answer(200, {}, xml("CompleteMultipartUploadResult", `<ETag>${tag.etag}</ETag>`));
      }
      case "HEAD": {
        const size = sizes.get(pathname);
        return size === undefined ? answer(404) : answer(200, { "content-length": size, ...tag });
      }
      case "DELETE":
        sizes.delete(pathname);
        return answer(204);
      default:
        return answer(200, {}, xml("ListBucketResult", ""));
    }
  });
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.on("end", () => process.exit(0)).resume();
