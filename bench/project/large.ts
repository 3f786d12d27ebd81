import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  make: Annotation<"text" | "image" | "items">,
  /** Bytes of the text or image, or the number of items. */
  size: Annotation<number>,
  text: Annotation<string>,
  items: Annotation<object[]>,
});

/** Returns a large value of the requested kind. */
function make({ make, size }: typeof State.State) {
  if (make === "text") return { text: LINE.repeat(Math.ceil(size / LINE.length)).slice(0, size) };
  if (make === "items")
    return { items: Array.from({ length: size }, (_, n) => ({ n, name: `item ${n}`, tags: ["a", "b"] })) };
  const url = `data:image/png;base64,${"iVBORw0KGgo/+8".repeat(Math.ceil(size / 14)).slice(0, size)}`;
  const messages: BaseMessage[] = [new AIMessage({ content: [{ type: "image_url", image_url: { url } }] })];
  return { messages };
}

const LINE = 'A line of a document, with "quotes", a number 12345 and a new line.\n';

export const graph = new StateGraph(State)
  .addNode("maker", make)
  .addEdge(START, "maker")
  .addEdge("maker", END)
  .compile();
