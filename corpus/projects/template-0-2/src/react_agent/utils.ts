import { initChatModel } from "langchain/chat_models/universal";

/** Loads a model from `provider/name` or `name`. */
export async function loadChatModel(name: string) {
  const index = name.indexOf("/");
  if (index === -1) return initChatModel(name);
  return initChatModel(name.slice(index + 1), { modelProvider: name.slice(0, index) });
}
