import { Hono } from "hono";

export const app = new Hono().get("/anything", (c) => c.text("an app of its own"));
