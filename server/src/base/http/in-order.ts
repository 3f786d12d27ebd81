import type { Ahead } from "./http-server.ts";

/** Tries interceptors in order; the first that handles a request wins. */
export const inOrder = (...all: Ahead[]): Ahead => ({
  handle: (request, response) => all.some((one) => one.handle(request, response)),
  upgrade: (request, socket, head) => all.some((one) => one.upgrade(request, socket, head)),
});
