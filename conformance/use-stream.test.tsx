// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, inject, test } from "vitest";
import { Chat, type ChatProps } from "./chat.tsx";

const apiUrl = inject("url");

const show = (props: Partial<ChatProps>) => render(<Chat apiUrl={apiUrl} assistantId="agent" {...props} />);
const click = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const texts = () => screen.queryAllByTestId("text").map((element) => element.textContent);
const ready = () => waitFor(() => expect(screen.getByRole("status").textContent).toBe("ready"), { timeout: 5_000 });
const shows = (expected: unknown[]) => waitFor(() => expect(texts()).toEqual(expected), { timeout: 5_000 });

afterEach(cleanup);

describe("the useStream hook of SDK 1.15.0", () => {
  test("shows a message as it grows, token by token", async () => {
    const seen: string[] = [];
    show({ onText: (text) => seen.push(text) });
    click("hello");
    await shows(["hello there", "You said: hello there"]);
    await ready();
    const grown = [...new Set(seen)].filter((text) => text.startsWith("You"));
    expect(grown.at(-1)).toBe("You said: hello there");
    expect(grown.length).toBeGreaterThan(1);
    expect(screen.queryByRole("alert")).toBeNull();
  });

  test("creates a thread and continues in it", async () => {
    const threads: string[] = [];
    show({ onThreadId: (id) => threads.push(id) });
    click("hello");
    await shows(["hello there", "You said: hello there"]);
    await ready();
    click("weather");
    const weather = ["weather in Rome", "", "sunny in Rome", "The tool says: sunny in Rome"];
    await shows(["hello there", "You said: hello there", ...weather]);
    await ready();
    expect(threads).toHaveLength(1);
  });

  test("shows the history of an existing thread", async () => {
    let thread = "";
    const first = show({ onThreadId: (id) => (thread = id) });
    click("hello");
    await shows(["hello there", "You said: hello there"]);
    await ready();
    first.unmount();
    expect(texts()).toEqual([]);
    show({ threadId: thread });
    await shows(["hello there", "You said: hello there"]);
  });

  test("shows the interrupt of a waiting graph and resumes it with the answer", async () => {
    show({ assistantId: "approval" });
    click("start");
    const question = await screen.findByTestId("question", {}, { timeout: 5_000 });
    expect(question.textContent).toBe("Publish news?");
    await ready();
    click("yes");
    await waitFor(() => expect(screen.getByText("draft:news asked published")).toBeTruthy(), { timeout: 5_000 });
    await ready();
    expect(screen.queryByTestId("question")).toBeNull();
  });

  test("shows the error of a graph that fails", async () => {
    show({ assistantId: "failing" });
    click("start");
    const alert = await screen.findByRole("alert", {}, { timeout: 5_000 });
    expect(alert.textContent).toContain("boom");
    await ready();
  });

  test("an edited message creates a branch, and the previous branch can be selected", async () => {
    show({});
    click("hello");
    await shows(["hello there", "You said: hello there"]);
    await ready();
    click("edit 0");
    await shows(["hello there, edited", "You said: hello there, edited"]);
    await ready();
    const branches = await screen.findAllByRole("button", { name: "branch" });
    expect(branches.map((branch) => branch.getAttribute("aria-pressed"))).toEqual(["false", "true"]);
    fireEvent.click(branches[0]!);
    await shows(["hello there", "You said: hello there"]);
    click("weather");
    await waitFor(() => expect(texts().at(-1)).toBe("The tool says: sunny in Rome"), { timeout: 5_000 });
    expect(texts().slice(0, 2)).toEqual(["hello there", "You said: hello there"]);
    await ready();
  });

  test("stops reading on stop", async () => {
    const seen: string[] = [];
    show({ onText: (text) => seen.push(text) });
    click("slow");
    await waitFor(() => expect(seen).toContain("You "), { timeout: 5_000 });
    click("stop");
    await ready();
    expect(seen).not.toContain("You said: slowly please");
  });
});
