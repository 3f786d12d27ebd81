import { Auth, HTTPException } from "@langchain/langgraph-sdk/auth";

/** Tokens of a demonstration. Replace them by a check of your identity provider's tokens. */
const USERS: Record<string, { identity: string; role: "customer" | "staff" }> = {
  "token-of-ada": { identity: "ada", role: "customer" },
  "token-of-bob": { identity: "bob", role: "customer" },
  "token-of-sam": { identity: "sam", role: "staff" },
};

const isStaff = (user: { permissions: string[] }) => user.permissions.includes("staff");
/** Staff see all conversations, customers their own. */
const visible = (user: { identity: string; permissions: string[] }) =>
  isStaff(user) ? true : { owner: user.identity };

export const auth = new Auth()
  .authenticate((request: Request) => {
    const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    const user = USERS[token];
    if (!user) throw new HTTPException(401, { message: "Sign in first." });
    return { identity: user.identity, permissions: [user.role] };
  })
  // what no handler below allows is forbidden: the store, crons, changes of states and of assistants
  .on("*", () => false)
  .on("assistants:read", () => true)
  .on("assistants:search", () => true)
  .on("threads:read", ({ user }) => visible(user))
  .on("threads:search", ({ user }) => visible(user))
  .on("threads:create", ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on("threads:create_run", ({ value, user }) => {
    // a resume is the answer to the question whether to refund, which is for staff alone; the rest is for customers
    const isAnswer = value.kwargs["command"] != null;
    if (isAnswer !== isStaff(user)) return false;
    return visible(user);
  });
