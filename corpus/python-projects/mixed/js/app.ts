/** A web standard application: any object with a `fetch`. */
export const app = {
  fetch: (request: Request): Response =>
    new URL(request.url).pathname === "/languages" ? Response.json(["js", "py"]) : new Response(null, { status: 404 }),
};
