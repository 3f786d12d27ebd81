import { RunTree } from "langsmith";
import { expect, test } from "vitest";

import { all, client, unique } from "./client.ts";

async function sendRun(project_name: string): Promise<void> {
  const run = new RunTree({ name: "r", inputs: {}, project_name, client });
  await run.postRun();
  await run.end({});
  await run.patchRun();
  await client.awaitPendingTraceBatches();
}

test("a project is created, read, updated, listed and deleted", async () => {
  const projectName = unique("project");
  const made = await client.createProject({ projectName, description: "d", metadata: { team: projectName } });
  expect(await client.readProject({ projectName })).toMatchObject({ id: made.id, name: projectName, description: "d" });
  expect(await client.readProject({ projectId: made.id })).toMatchObject({ name: projectName });
  expect(await client.hasProject({ projectName })).toBe(true);
  expect(await client.hasProject({ projectName: unique("nobody") })).toBe(false);
  await expect(client.createProject({ projectName })).rejects.toMatchObject({ status: 409 });
  expect((await client.createProject({ projectName, upsert: true })).id).toBe(made.id);

  await client.updateProject(made.id, { description: "new" });
  expect(await client.readProject({ projectId: made.id })).toMatchObject({ name: projectName, description: "new" });
  const found = await all(client.listProjects({ metadata: { team: projectName } }));
  expect(found.map((project) => project.id)).toEqual([made.id]);
  expect(await all(client.listProjects({ name: projectName, referenceFree: true }))).toHaveLength(1);

  await client.deleteProject({ projectName });
  expect(await client.hasProject({ projectName })).toBe(false);
});

test("a run creates its project and counts in the project's statistics", async () => {
  const projectName = unique("made by a run");
  await sendRun(projectName);
  const project = await client.readProject({ projectName, includeStats: true });
  expect(project).toMatchObject({ run_count: 1, error_rate: 0 });
  expect(await client.getProjectUrl({ projectName })).toContain(project.id);
  await client.deleteProject({ projectId: project.id });
  await expect(all(client.listRuns({ projectId: project.id }))).rejects.toMatchObject({ status: 404 });
  // the next run creates a new one
  await new Promise((resolve) => setTimeout(resolve, 1100));
  await sendRun(projectName);
  expect((await client.readProject({ projectName })).id).not.toBe(project.id);
});
