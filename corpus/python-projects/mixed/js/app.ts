import { Hono } from "hono";

export const app = new Hono().get("/languages", (context) => context.json(["js", "py"]));
