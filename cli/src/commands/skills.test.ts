import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test, vi } from "vitest";

import { run } from "./skills.ts";

const directory = mkdtempSync(join(tmpdir(), "heddle-skills-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function skills(...args: string[]): Promise<string> {
  let printed = "";
  const writing = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => ((printed += String(chunk)), true));
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  try {
    await run(args);
  } finally {
    writing.mockRestore();
    errors.mockRestore();
  }
  return printed;
}

test("writes skills and a section of AGENTS.md once, and keeps the text of people", async () => {
  const agents = join(directory, "AGENTS.md");
  const skill = join(directory, ".claude/skills/heddle/SKILL.md");
  writeFileSync(agents, "# Our rules\nBe kind.");
  expect(await skills("write", "--dir", directory)).toMatch(
    /SKILL.md: written\n.*SKILL.md: written\n.*AGENTS.md: updated/,
  );
  expect(readFileSync(skill, "utf8")).toMatch(/^---\nname: heddle\ndescription: "Read traces/);
  expect(readFileSync(agents, "utf8")).toMatch(/^# Our rules\nBe kind\.\n\n<!-- heddle:begin[^]*heddle traces list/);
  writeFileSync(agents, `${readFileSync(agents, "utf8")}\nMore rules.\n`.replace("heddle traces list", "old text"));
  expect(await skills("write", "--dir", directory)).toMatch(/unchanged\n.*unchanged\n.*AGENTS.md: updated/);
  expect(readFileSync(agents, "utf8")).toMatch(/^# Our rules[^]*heddle traces list[^]*\nMore rules\.\n$/);
  const before = readFileSync(agents, "utf8");
  writeFileSync(skill, "my own skill");
  expect(await skills("write", "--dir", directory)).toMatch(/kept: [^]*AGENTS.md: unchanged/);
  expect([readFileSync(agents, "utf8"), readFileSync(skill, "utf8")]).toEqual([before, "my own skill"]);
});

test("prints the configuration of the MCP server without a key", async () => {
  const printed = await skills("mcp", "--client", "claude", "--url", "https://heddle.example/api/v1/");
  expect(JSON.parse(printed)).toEqual({
    mcpServers: {
      heddle: { type: "http", url: "https://heddle.example/mcp", headers: { "x-api-key": "${HEDDLE_API_KEY}" } },
    },
  });
  expect(await skills("mcp", "--client", "codex")).toContain('url = "http://127.0.0.1:1984/mcp"');
  await expect(skills("mcp", "--client", "other")).rejects.toThrow("--client must be one of claude, cursor");
});

test("writes through no link, into no file that it cannot read as text, and over no half of a mark", async () => {
  const other = mkdtempSync(join(tmpdir(), "heddle-skills-"));
  const agents = join(other, "AGENTS.md");
  const elsewhere = join(other, "elsewhere");
  symlinkSync(elsewhere, agents);
  await expect(skills("write", "--dir", other)).rejects.toThrow("no plain file");
  expect(existsSync(elsewhere)).toBe(false);
  rmSync(agents);
  writeFileSync(agents, Buffer.from("caf\xe9", "latin1"));
  await expect(skills("write", "--dir", other)).rejects.toThrow("not UTF-8");
  expect(readFileSync(agents, "latin1")).toBe("caf\xe9");
  rmSync(agents);
  await skills("write", "--dir", other);
  const [mark] = /<!-- heddle:begin.*-->/.exec(readFileSync(agents, "utf8"))!;
  const half = `${mark}\nmine\n${readFileSync(agents, "utf8")}`;
  writeFileSync(agents, half);
  await expect(skills("write", "--dir", other)).rejects.toThrow("Add it");
  expect(readFileSync(agents, "utf8")).toBe(half);
  rmSync(other, { recursive: true });
});
