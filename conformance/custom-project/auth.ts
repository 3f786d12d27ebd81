import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";

/** Tokens are names of users. */
export const auth = new Auth()
  .authenticate((request: Request) => {
    const token = request.headers.get("authorization")?.replace("Bearer ", "");
    if (!token) throw new HTTPException(401, { message: "No token" });
    return { identity: token, permissions: ["all"], team: process.env["TEAM"] };
  })
  .on(["threads", "assistants", "crons"], ({ value, user }) => {
    const { metadata } = value as { metadata?: Record<string, unknown> };
    if (metadata) metadata["owner"] = user.identity;
    return { owner: user.identity };
  })
  .on("store", ({ value, user }) => {
    const item = value as { namespace?: string[] | null };
    item.namespace = [user.identity, ...(item.namespace ?? [])];
  });
