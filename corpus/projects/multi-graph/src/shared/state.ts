import { MessagesZodMeta } from "@langchain/langgraph";
import { registry } from "@langchain/langgraph/zod";
import type { BaseMessage } from "@langchain/core/messages";
import * as z from "zod";

export const State = z.object({
  messages: z.array(z.custom<BaseMessage>()).register(registry, MessagesZodMeta),
  // LangGraph ignores the defaults of zod for channels
  drafts: z.array(z.string()).register(registry, { default: () => [] }),
});
export type State = z.infer<typeof State>;
