import type { BaseMessage } from "@langchain/core/messages";

export interface Reply {
  text: string;
  toolCalls: { name: string; args: Record<string, unknown> }[];
}

/** Decides the local model's reply from the last question, the tools' answers and the earlier messages. */
export function decideReply(messages: BaseMessage[], tools: Set<string>): Reply {
  const answers = trailingToolAnswers(messages);
  if (answers.length > 0) return say(answers.join(" "));

  const human = messages.filter((message) => message.getType() === "human").map((message) => message.text);
  const asked = human.at(-1) ?? "";
  const calls = toolCallsFor(asked).filter(({ name }) => tools.has(name));
  if (calls.length > 0) return { text: "Let me look that up.", toolCalls: calls };

  if (/\bwhat(?:'s| is) my name\b|\bwho am i\b/i.test(asked)) {
    const name = human.map(nameIn).findLast((found) => found !== undefined);
    return say(name ? `Your name is ${name}.` : "You have not told me your name yet.");
  }
  const name = nameIn(asked);
  if (name) return say(`Nice to meet you, ${name}.`);
  if (/\bwho are you\b/i.test(asked)) {
    const system = messages.find((message) => message.getType() === "system")?.text ?? "";
    return say(`I am ${/^You are ([^.]+)\./.exec(system)?.[1] ?? "a local model"}.`);
  }
  if (/^(hi|hello|hey)\b/i.test(asked)) return say("Hello! Ask me for the weather in a city, or what 17 * 23 is.");
  return say(`You said: ${asked}`);
}

function trailingToolAnswers(messages: BaseMessage[]): string[] {
  const from = messages.findLastIndex((message) => message.getType() !== "tool") + 1;
  return messages.slice(from).map((message) => message.text);
}

function toolCallsFor(asked: string): Reply["toolCalls"] {
  const places = /\bweather\b.*?\b(?:in|for|at)\s+([^?.!]+)/i.exec(asked)?.[1];
  if (places) {
    const cities = places.split(/\s*(?:,|\band\b)\s*/).filter((city) => city !== "");
    return cities.map((city) => ({
      name: "get_weather",
      args: { city: city.replace(/\s+(today|now|tomorrow)$/i, "") },
    }));
  }
  const expression = /[-+(]?\s*\d[\d\s.()]*(?:[-+*/^]\s*[-(]*\s*\d[\d\s.()]*)+/.exec(asked)?.[0].trim();
  return expression ? [{ name: "calculate", args: { expression } }] : [];
}

function nameIn(text: string): string | undefined {
  return /\bmy name is\s+([\p{L}][\p{L}'-]*)/iu.exec(text)?.[1];
}

function say(text: string): Reply {
  return { text, toolCalls: [] };
}
