import { RunTree } from "langsmith";
import { expect, test } from "vitest";

import { all, client, unique, url } from "./client.ts";

/** Creates a run that has ended. */
async function finishedRun(project_name = "default") {
  const run = new RunTree({ name: "judged", inputs: { q: 1 }, project_name, client });
  await run.postRun();
  await run.end({ a: 2 });
  await run.patchRun();
  await client.awaitPendingTraceBatches();
  return run;
}

test("feedback on a run is created, read, listed, updated and deleted", async () => {
  const run = await finishedRun();
  const feedback = await client.createFeedback(run.id, "correctness", {
    score: 0.123456,
    value: "fine",
    comment: "well done",
    correction: { a: 3 },
    sourceInfo: { grader: "me" },
    feedbackSourceType: "app",
  });
  const read = await client.readFeedback(feedback.id);
  expect(read).toMatchObject({
    id: feedback.id,
    run_id: run.id,
    key: "correctness",
    score: 0.1235,
    value: "fine",
    comment: "well done",
    correction: { a: 3 },
    feedback_source: { type: "app", metadata: { grader: "me" } },
  });
  expect(await all(client.listFeedback({ runIds: [run.id], feedbackKeys: ["correctness"] }))).toEqual([read]);
  await client.updateFeedback(feedback.id, { score: 1, comment: "better" });
  expect(await client.readFeedback(feedback.id)).toMatchObject({ score: 1, comment: "better", value: "fine" });
  expect((await client.readRun(run.id)).feedback_stats).toMatchObject({ correctness: { n: 1, avg: 1 } });
  await client.deleteFeedback(feedback.id);
  await expect(client.readFeedback(feedback.id)).rejects.toMatchObject({ status: 404 });
});

test("runs can be filtered by new feedback at once", async () => {
  const project = unique("judged");
  const [good, bad] = [await finishedRun(project), await finishedRun(project)];
  await client.createFeedback(good.id, "quality", { score: 1 });
  await client.createFeedback(bad.id, "quality", { score: 0 });
  const found = await all(
    client.listRuns({ projectName: project, filter: 'and(eq(feedback_key, "quality"), eq(feedback_score, 1))' }),
  );
  expect(found.map((run) => run.id)).toEqual([good.id]);
  const { feedback_stats: stats } = await client.readProject({ projectName: project, includeStats: true });
  expect(stats).toMatchObject({ quality: { n: 2, avg: 0.5 } });
});

test("feedback sent before its run is attached when the run arrives", async () => {
  const run = new RunTree({ name: "late", inputs: {}, project_name: unique("late"), client });
  await client.createFeedback(run.id, "early", { score: 1 });
  await run.postRun();
  await client.awaitPendingTraceBatches();
  expect((await client.readRun(run.id)).feedback_stats).toMatchObject({ early: { n: 1 } });
  await expect
    .poll(async () => (await all(client.listFeedback({ runIds: [run.id] })))[0]?.trace_id, { timeout: 10_000 })
    .toBe(run.id);
});

test("a pre-signed link gives feedback without a key", async () => {
  const run = await finishedRun();
  const token = await client.createPresignedFeedbackToken(run.id, "thumbs", { expiration: { minutes: 5 } });
  expect(token.url).toBe(`${url}/api/v1/feedback/tokens/${token.id}`);
  const correction = encodeURIComponent(JSON.stringify({ answer: "42" }));
  for (let i = 0; i < 2; i++) {
    expect((await fetch(`${token.url}?score=1&comment=good&correction=${correction}`)).status).toBe(200);
  }
  const posted = await fetch(token.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ value: 7, metadata: { page: "/" } }),
  });
  expect(posted.status).toBe(200);
  const given = await all(client.listFeedback({ runIds: [run.id], feedbackKeys: ["thumbs"] }));
  expect(given).toMatchObject([
    { value: 7, feedback_source: { metadata: { page: "/" } } },
    { score: 1, comment: "good", correction: { answer: "42" } },
  ]);
  const until = new Date(Date.now() + 60_000).toISOString();
  const second = await client.createPresignedFeedbackToken(run.id, "second", { expiration: until });
  expect(Date.parse(second.expires_at)).toBe(Date.parse(until));
  const listed = await all(client.listPresignedFeedbackTokens(run.id));
  expect(listed.map((token) => token.id)).toEqual([token.id, second.id]);
});

test("feedback configurations are created once, updated and deleted", async () => {
  const feedbackKey = unique("config");
  const feedbackConfig = { type: "continuous" as const, min: 0, max: 5 };
  const made = await client.createFeedbackConfig({ feedbackKey, feedbackConfig });
  expect(made).toMatchObject({ feedback_key: feedbackKey, feedback_config: feedbackConfig });
  await client.updateFeedbackConfig(feedbackKey, { isLowerScoreBetter: true });
  expect(await client.createFeedbackConfig({ feedbackKey, feedbackConfig })).toMatchObject({
    is_lower_score_better: true,
  });
  expect(await all(client.listFeedbackConfigs({ feedbackKeys: [feedbackKey] }))).toHaveLength(1);
  await expect(
    client.createFeedbackConfig({ feedbackKey, feedbackConfig: { type: "freeform" } }),
  ).rejects.toMatchObject({ status: 400 });
  await client.deleteFeedbackConfig(feedbackKey);
  expect(await all(client.listFeedbackConfigs({ feedbackKeys: [feedbackKey] }))).toEqual([]);
});
