import type { Ahead } from "./http-server.ts";

/** Asks one after the other; the first that takes a request has it. */
export const inOrder = (...all: Ahead[]): Ahead => ({
  handle: (request, response) => all.some((one) => one.handle(request, response)),
  upgrade: (request, socket, head) => all.some((one) => one.upgrade(request, socket, head)),
});
