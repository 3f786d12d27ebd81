import { Hono } from "hono";

const SECRET = "of-a-custom-route";
const sub = new Hono().get("/secret", (c) => c.text(SECRET));

/** Routes that need a key, one of each kind of path, behind a middleware. */
export const app = new Hono()
  .use(async (c, next) => {
    await next();
    c.header("x-served-by", "the project");
  })
  .get("/admin/export", (c) => c.json({ export: SECRET }))
  .post("/admin/users/:id{[0-9]+}/delete", (c) => c.json({ deleted: c.req.param("id"), by: SECRET }))
  .get("/files/*", (c) => c.text(`${c.req.path} ${SECRET}`))
  .post("/mirror", async (c) => c.json({ body: await c.req.text(), by: SECRET }))
  .route("/sub", sub);
