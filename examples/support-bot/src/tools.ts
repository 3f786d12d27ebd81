import { randomUUID } from "node:crypto";

import { tool } from "@langchain/core/tools";
import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";

import { userOf } from "./user.ts";

/** The shop's orders, in the place of its database. */
const ORDERS: Record<string, { owner: string; item: string; price: string; state: string }> = {
  "17": { owner: "ada", item: "a kettle", price: "€30", state: "delivered on Monday" },
  "42": { owner: "ada", item: "a lamp", price: "€49", state: "delivered on Tuesday" },
  "51": { owner: "bob", item: "a chair", price: "€90", state: "on its way" },
};

const order = z.object({ order: z.string().describe("Number of the order, such as 42") });
const missing = (id: string) => `You have no order ${id}.`;

/** Finds an order of the user. It checks the owner itself, so that no message gets another customer's data out of it. */
function find(id: string, config: LangGraphRunnableConfig) {
  const found = ORDERS[id];
  return found?.owner === userOf(config) ? found : undefined;
}

const lookUpOrder = tool(
  ({ order: id }, config: LangGraphRunnableConfig) => {
    const found = find(id, config);
    return found ? `Order ${id}, ${found.item} for ${found.price}, is ${found.state}.` : missing(id);
  },
  { name: "look_up_order", description: "Says what an order of the customer is, and where.", schema: order },
);

/** Answer of staff. */
interface Decision {
  approved: boolean;
}

const refundOrder = tool(
  ({ order: id }, config: LangGraphRunnableConfig) => {
    const found = find(id, config);
    if (!found) return missing(id);
    const { approved } = interrupt<object, Decision>({
      question: `Refund order ${id} (${found.item}, ${found.price}) of ${found.owner}?`,
      answers: [
        { label: "Approve", value: { approved: true } },
        { label: "Reject", value: { approved: false } },
      ],
    });
    if (!approved) return `Order ${id} cannot be refunded.`;
    // here the shop's payment provider would be called, with the order's number as its idempotency key
    return `Order ${id} is refunded: ${found.price}. It was approved by ${config.configurable?.["heddle_answering_user_id"]}.`;
  },
  { name: "refund_order", description: "Refunds an order of the customer. Staff are asked first.", schema: order },
);

const remember = tool(
  async ({ fact }, config: LangGraphRunnableConfig) => {
    await config.store!.put(["facts", userOf(config)], randomUUID(), { fact });
    return `I will remember that ${fact}.`;
  },
  {
    name: "remember",
    description: "Keeps a fact about the customer for later conversations.",
    schema: z.object({ fact: z.string() }),
  },
);

export const tools = [lookUpOrder, refundOrder, remember];
