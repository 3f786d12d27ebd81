import { createServer, type Server } from "node:http";

/** Starts a container engine that has nothing and runs nothing: enough for images to be pushed. */
export async function startIdleEngine(socket: string): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/^\/v[\d.]+/, "").split("?")[0]!;
    request.resume();
    if (path === "/_ping") return void response.writeHead(200, { "api-version": "1.41" }).end("OK");
    if (path.endsWith("/json") && !path.startsWith("/images/")) return void response.end("[]");
    response.writeHead(404, { "content-type": "application/json" }).end('{"message":"no such object"}');
  });
  await new Promise<void>((resolve) => void server.listen(socket, resolve));
  return server;
}
