/**
 * Approval requests of LangChain's agents before tool calls, in both formats in use: the middleware's
 * (`action_requests`, answered with `decisions`; JavaScript writes camelCase) and the older one of agent inboxes (a
 * list of `action_request`s, answered with a list). Any other value is a question specific to the graph.
 */
export type Choice = "approve" | "edit" | "reject" | "respond";

export interface Action {
  name: string;
  args: unknown;
  description: string | null;
  choices: Choice[];
}

export interface Review {
  form: "decisions" | "inbox";
  actions: Action[];
}

export type Decision =
  | { choice: "approve" }
  | { choice: "edit"; args: unknown }
  | { choice: "reject" | "respond"; message: string };

type Fields = Record<string, unknown>;
const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const objects = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

export function readReview(value: unknown): Review | null {
  const inbox = objects(Array.isArray(value) ? value : [value]).filter((entry) => isObject(entry["action_request"]));
  if (inbox.length > 0) return { form: "inbox", actions: inbox.map(readInboxAction) };
  if (!isObject(value)) return null;
  const requests = objects(value["action_requests"] ?? value["actionRequests"]);
  if (requests.length === 0) return null;
  const configs = objects(value["review_configs"] ?? value["reviewConfigs"]);
  const actions = requests.map((request): Action => {
    const name = text(request["name"]) ?? text(request["action"]) ?? "action";
    const config = configs.find((entry) => (entry["action_name"] ?? entry["actionName"]) === name);
    const allowed = config?.["allowed_decisions"] ?? config?.["allowedDecisions"];
    const choices = Array.isArray(allowed) ? (allowed as Choice[]) : (["approve", "edit", "reject"] as Choice[]);
    const args = request["args"] ?? request["arguments"] ?? {};
    return { name, args, description: text(request["description"]), choices };
  });
  return { form: "decisions", actions };
}

function readInboxAction(entry: Fields): Action {
  const request = entry["action_request"] as Fields;
  const config = isObject(entry["config"]) ? entry["config"] : {};
  const allows = { approve: "allow_accept", edit: "allow_edit", reject: "allow_ignore", respond: "allow_respond" };
  const choices = (Object.keys(allows) as Choice[]).filter((choice) => config[allows[choice]] !== false);
  return {
    name: text(request["action"]) ?? "action",
    args: request["args"] ?? {},
    description: text(entry["description"]),
    choices,
  };
}

/** Builds the value that the graph's `interrupt` returns. */
export function writeAnswer({ form, actions }: Review, decisions: Decision[]): unknown {
  const named = decisions.map((decision, index) => ({ decision, name: actions[index]!.name }));
  if (form === "inbox") {
    return named.map(({ decision, name }) => {
      if (decision.choice === "edit") return { type: "edit", args: { action: name, args: decision.args } };
      if (decision.choice === "respond") return { type: "response", args: decision.message };
      return { type: decision.choice === "approve" ? "accept" : "ignore", args: null };
    });
  }
  return {
    decisions: named.map(({ decision, name }) => {
      if (decision.choice === "approve") return { type: "approve" };
      if (decision.choice !== "edit") {
        return { type: decision.choice, ...(decision.message !== "" && { message: decision.message }) };
      }
      const edited = { name, args: decision.args };
      // Python's middleware reads the former, JavaScript's the latter
      return { type: "edit", edited_action: edited, editedAction: edited };
    }),
  };
}
