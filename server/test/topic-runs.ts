/** Runs whose questions belong to planted topics: each has its own words, among words that all share. */
import { seeded } from "../src/trace/insights/vectors.ts";
import type { Call } from "./call.ts";
import { microseconds, type SampleRun, sampleRun, sendRuns } from "./sample-runs.ts";

export const TOPICS = {
  billing: "invoice refund charge receipt payment subscription cancel price",
  login: "password reset account locked login username twofactor verify",
  shipping: "parcel delivery tracking courier shipment address delayed warehouse",
  coding: "typescript compiler function variable syntax debug library import",
  travel: "flight hotel booking airport luggage itinerary visa passport",
} as const;
export type Topic = keyof typeof TOPICS;
const NAMES = Object.keys(TOPICS) as Topic[];
const NOISE = "please help with this thing today since yesterday again really quickly other also".split(" ");

/** Returns a question of a topic: five of its words and four that say nothing. */
export function question(topic: Topic, random: () => number): string {
  const words = TOPICS[topic].split(" ");
  const draw = (list: string[], n: number) =>
    Array.from({ length: n }, () => list[Math.floor(random() * list.length)]!);
  return [...draw(words, 5), ...draw(NOISE, 4)].join(" ");
}

export interface TopicRun {
  run: SampleRun;
  topic: Topic;
}

/** Returns roots of all topics in turn, a second apart; `shares` weighs topics, `fails` says which runs have errors. */
export function topicRuns(
  project: string,
  count: number,
  {
    start = Date.UTC(2026, 10, 1),
    shares = {},
    fails = () => false,
    seed = 3,
  }: {
    start?: number;
    shares?: Partial<Record<Topic, number>>;
    fails?: (i: number, topic: Topic) => boolean;
    seed?: number;
  } = {},
): TopicRun[] {
  const random = seeded(seed);
  const turn = NAMES.flatMap((name) => Array.from({ length: shares[name] ?? 1 }, () => name));
  return Array.from({ length: count }, (_, i) => {
    const topic = turn[i % turn.length]!;
    const run = sampleRun(project, {
      start_time: microseconds(start + i * 1000),
      inputs: { messages: [{ role: "user", content: question(topic, random) }] },
      ...(fails(i, topic) && { error: "Error: no" }),
    });
    return { run, topic };
  });
}

/** Sends runs in batches. */
export async function sendTopicRuns(call: Call, runs: TopicRun[], headers: Record<string, string>): Promise<void> {
  for (let at = 0; at < runs.length; at += 2000) {
    await sendRuns(
      call,
      runs.slice(at, at + 2000).map(({ run }) => run),
      headers,
    );
  }
}

/** Script of the fake model: names groups by the topic whose words occur most. */
export function nameByTopic(asked: string): { name: string; description: string } {
  const { central, groups } = JSON.parse(asked) as { central?: string[]; groups?: { name: string }[] };
  if (groups) return { name: groups.map(({ name }) => name).join(" and "), description: "Several kinds" };
  const count = (name: Topic) => {
    const words = new Set(TOPICS[name].split(" "));
    return (central ?? [])
      .join(" ")
      .split(" ")
      .filter((word) => words.has(word)).length;
  };
  const [best] = NAMES.toSorted((a, b) => count(b) - count(a));
  return { name: `Questions about ${best}`, description: `What users ask about ${best}.` };
}
