import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";

const USERS: Record<string, string> = { "token-anna": "anna", "token-ben": "ben" };

export const auth = new Auth()
  .authenticate(async (request: Request) => {
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "");
    const user = token === undefined ? undefined : USERS[token];
    if (user === undefined) throw new HTTPException(401, { message: "Unknown token" });
    return { identity: user, permissions: [], is_authenticated: true, display_name: user };
  })
  .on("*", ({ value, user }) => {
    if ("metadata" in value) {
      value.metadata ??= {};
      value.metadata.owner = user.identity;
    }
    return { owner: user.identity };
  })
  .on("store", ({ user, value }) => {
    if (value.namespace != null && value.namespace[0] !== user.identity) return false;
    return true;
  });
