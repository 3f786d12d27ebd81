import { AIMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, StateGraph, type LangGraphRunnableConfig } from "@langchain/langgraph";
import {
  type RemoveUIMessage,
  type UIMessage,
  typedUi,
  uiMessageReducer,
} from "@langchain/langgraph-sdk/react-ui/server";

import type ComponentMap from "../agent-uis/index";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  ui: Annotation<UIMessage[], UIMessage | RemoveUIMessage | (UIMessage | RemoveUIMessage)[]>({
    reducer: uiMessageReducer,
    default: () => [],
  }),
});

export const graph = new StateGraph(State)
  .addNode("weather", (_state: typeof State.State, config: LangGraphRunnableConfig) => {
    const ui = typedUi<typeof ComponentMap>(config);
    const message = new AIMessage({ id: crypto.randomUUID(), content: "Here is the weather" });
    ui.push({ name: "weather", props: { city: "Berlin" } }, { message });
    return { messages: [message] };
  })
  .addEdge("__start__", "weather")
  .compile();
