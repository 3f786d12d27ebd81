import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  /** Subject of the text, for example "lunch on Friday". */
  topic: Annotation<string>,
  recipient: Annotation<string>({ reducer: (_old, next) => next, default: () => "ada@example.com" }),
  draft: Annotation<string>,
  status: Annotation<"drafted" | "approved" | "rejected" | "sent">,
  log: Annotation<string[]>({ reducer: (old, next) => [...old, ...next], default: () => [] }),
});

/** Value that resumes the graph: a word, or an object with more details. */
type Decision =
  | "approve"
  | "reject"
  | { action: "approve" }
  | { action: "edit"; draft: string }
  | { action: "reject"; reason?: string };

function write(state: typeof State.State) {
  return {
    draft: `Dear ${state.recipient.split("@")[0]}, let us talk about ${state.topic}.`,
    status: "drafted" as const,
    log: ["drafted"],
  };
}

function review(state: typeof State.State) {
  const answer: Decision = interrupt({
    question: "Shall this be sent?",
    draft: state.draft,
    answers: ["approve", { action: "edit", draft: "…" }, { action: "reject", reason: "…" }],
  });
  const decision = typeof answer === "string" ? { action: answer } : answer;
  switch (decision.action) {
    case "approve":
      return new Command({ update: { status: "approved", log: ["approved"] }, goto: "send" });
    case "edit":
      // An edited text is reviewed again.
      return new Command({
        update: { draft: (decision as { draft: string }).draft, log: ["edited"] },
        goto: "review",
      });
    case "reject": {
      const reason = "reason" in decision && decision.reason ? `: ${decision.reason}` : "";
      return new Command({ update: { status: "rejected", log: [`rejected${reason}`] }, goto: END });
    }
    default:
      throw new Error(`Not an answer: ${JSON.stringify(answer)}. Use approve, edit or reject.`);
  }
}

function send(state: typeof State.State) {
  return { status: "sent" as const, log: [`sent to ${state.recipient}`] };
}

export const graph = new StateGraph(State)
  .addNode("write", write)
  .addNode("review", review, { ends: ["send", "review", END] })
  .addNode("send", send)
  .addEdge(START, "write")
  .addEdge("write", "review")
  .addEdge("send", END)
  .compile({ name: "approval" });
