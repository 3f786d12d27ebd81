import type { LangGraphRunnableConfig } from "@langchain/langgraph";

/** Returns the user that auth.ts has identified: the customer, also in a run that continues with an answer of staff. */
export function userOf(config: LangGraphRunnableConfig): string {
  const user: unknown = config.configurable?.["langgraph_auth_user_id"];
  if (typeof user !== "string") throw new Error("The run has no user. Is auth in langgraph.json?");
  return user;
}
