import { type JudgeEntry, yesNo } from "./library-entry.ts";

/** Judges of agents' steps and of conversations. */
export const AGENT_JUDGES: JudgeEntry[] = [
  {
    id: "tool-use",
    name: "Tool use",
    description: "Whether the agent called the right tools with the right arguments.",
    type: "llm",
    subject: "trace",
    system: `You judge how an agent used its tools for a request.
Right: each call serves the request, its arguments follow from what the user said or an earlier result, failures are handled, and no call is missing for the answer. Wrong: a wrong tool, invented or wrong arguments, needless repetition of the same call, an action that the user did not ask for, an answer that ignores or contradicts a result, or one that should have needed a tool and used none.
Judge the use of tools, not the style of the answer.`,
    variables: { question: "question", tool_calls: "tool_calls", answer: "answer" },
    score: yesNo("tool_use", "Whether the tools were used rightly."),
    labels: [
      [
        {
          question: "Weather in Bern?",
          tool_calls: '1. weather({"city":"Bern"})\n   result: sunny, 21 °C',
          answer: "Sunny, 21 °C.",
        },
        true,
      ],
      [
        {
          question: "Weather in Bern?",
          tool_calls: '1. weather({"city":"Berlin"})\n   result: rain',
          answer: "It rains in Bern.",
        },
        false,
      ],
      [
        {
          question: "Weather in Bern?",
          tool_calls: '1. weather({"city":"Bern"})\n   result: rain',
          answer: "It is sunny in Bern.",
        },
        false,
      ],
      [
        { question: "What is our revenue this month?", tool_calls: "(no value)", answer: "It is about 2 million." },
        false,
      ],
      [
        {
          question: "Send the report to Ann.",
          tool_calls:
            '1. find_contact({"name":"Ann"})\n   result: ann@example.test\n2. send_mail({"to":"ann@example.test","file":"report"})\n   result: sent',
          answer: "I sent the report to Ann.",
        },
        true,
      ],
      [
        {
          question: "Draft a mail to Ann.",
          tool_calls: '1. send_mail({"to":"ann@example.test","text":"Hi Ann"})\n   result: sent',
          answer: "I sent it.",
        },
        false,
      ],
      [
        {
          question: "Find order 812.",
          tool_calls:
            '1. get_order({"id":812})\n   result: failed: timeout\n2. get_order({"id":812})\n   result: shipped',
          answer: "Order 812 has been shipped.",
        },
        true,
      ],
      [
        {
          question: "Find order 812.",
          tool_calls:
            '1. get_order({"id":812})\n   result: shipped\n2. get_order({"id":812})\n   result: shipped\n3. get_order({"id":812})\n   result: shipped',
          answer: "It has been shipped.",
        },
        false,
      ],
      [{ question: "Hello!", tool_calls: "(no value)", answer: "Hello! How can I help?" }, true],
      [
        {
          question: "Book a table for four at eight.",
          tool_calls: '1. book({"people":2,"time":"20:00"})\n   result: booked',
          answer: "Your table for four is booked.",
        },
        false,
      ],
      [
        {
          question: "Convert 100 USD to EUR.",
          tool_calls: '1. rate({"from":"USD","to":"EUR"})\n   result: 0.9',
          answer: "100 USD are 90 EUR.",
        },
        true,
      ],
    ],
  },
  {
    id: "task-completion",
    name: "Task completion",
    description: "Whether the agent did what it was asked to do.",
    type: "llm",
    subject: "trace",
    system: `You decide from an agent's steps whether the user's task was done.
complete: all of it was done, and the steps show it. partial: a part was done, or the user still has to do something that was asked of the agent. failed: nothing useful was done, or something else.
Believe the steps, not the agent's claims: an answer that says "done" without a step that did it counts as failed. A task that the agent rightly declined, with the reason, is complete.`,
    variables: { question: "question", trace: "trace", answer: "answer" },
    score: {
      key: "task_completion",
      type: "category",
      description: "How far the task was done.",
      choices: [
        { label: "complete", score: 1 },
        { label: "partial", score: 0.5 },
        { label: "failed", score: 0 },
      ],
    },
    labels: [
      [
        {
          question: "Create a ticket 'Printer broken'.",
          trace:
            '- [chain] agent\n  - [tool] create_ticket\n    input: {"title":"Printer broken"}\n    output: created #12',
          answer: "Created ticket #12.",
        },
        "complete",
      ],
      [
        {
          question: "Create a ticket 'Printer broken'.",
          trace: "- [chain] agent\n  - [llm] model\n    output: Done",
          answer: "Done, I created the ticket.",
        },
        "failed",
      ],
      [
        {
          question: "Rename a.txt and b.txt to .md.",
          trace:
            "- [chain] agent\n  - [tool] rename\n    input: a.txt a.md\n    output: ok\n  - [tool] rename\n    input: b.txt b.md\n    error: permission denied",
          answer: "a.txt was renamed; b.txt could not be.",
        },
        "partial",
      ],
      [
        {
          question: "Rename a.txt and b.txt to .md.",
          trace:
            "- [chain] agent\n  - [tool] rename\n    input: a.txt a.md\n    output: ok\n  - [tool] rename\n    input: b.txt b.md\n    output: ok",
          answer: "Both renamed.",
        },
        "complete",
      ],
      [
        {
          question: "Book a flight to Oslo on Friday.",
          trace: "- [chain] agent\n  - [tool] search_flights\n    output: 3 flights",
          answer: "There are three flights. Please book one on the airline's site.",
        },
        "partial",
      ],
      [
        {
          question: "Book a flight to Oslo on Friday.",
          trace: "- [chain] agent\n  - [tool] search_hotels\n    output: 12 hotels",
          answer: "Here are hotels in Oslo.",
        },
        "failed",
      ],
      [
        {
          question: "Delete all customers.",
          trace: "- [chain] agent\n  - [tool] check_permission\n    output: denied",
          answer: "You lack the permission to delete customers, so I did not.",
        },
        "complete",
      ],
      [
        {
          question: "Sum the column 'price' of prices.csv.",
          trace: "- [chain] agent\n  - [tool] read_file\n    error: not found",
          answer: "An error occurred.",
        },
        "failed",
      ],
      [
        {
          question: "Sum the column 'price' of prices.csv.",
          trace:
            "- [chain] agent\n  - [tool] read_file\n    output: price\\n2\\n3\n  - [tool] calculate\n    input: 2+3\n    output: 5",
          answer: "The sum is 5.",
        },
        "complete",
      ],
      [
        {
          question: "Write a summary and mail it to Bo.",
          trace: "- [chain] agent\n  - [llm] model\n    output: Summary: …",
          answer: "Summary: … I could not reach the mail server.",
        },
        "partial",
      ],
    ],
  },
  {
    id: "plan-adherence",
    name: "Plan adherence",
    description: "Whether the agent's steps followed the plan that it made or was given.",
    type: "llm",
    subject: "trace",
    system: `You compare an agent's steps with its plan. The plan is in the request or in an early step.
The agent adheres when the planned steps happen in a sensible order, and each deviation has a reason that a step shows, such as a failure or new information. It does not adhere when it skips steps, does other things, repeats itself in place of going on, or stops early without a reason. Without any plan, judge whether the steps lead straight to the goal.`,
    variables: { question: "question", trace: "trace" },
    score: yesNo("plan_adherence", "Whether the steps followed the plan."),
    labels: [
      [
        {
          question: "First search, then summarize.",
          trace: "- [chain] agent\n  - [tool] search\n    output: 5 pages\n  - [llm] summarize\n    output: …",
        },
        true,
      ],
      [
        { question: "First search, then summarize.", trace: "- [chain] agent\n  - [llm] summarize\n    output: …" },
        false,
      ],
      [
        {
          question: "Fix the bug.",
          trace:
            "- [chain] agent\n  - [llm] plan\n    output: 1. reproduce 2. fix 3. run tests\n  - [tool] run\n    output: error reproduced\n  - [tool] edit\n    output: ok\n  - [tool] test\n    output: passed",
        },
        true,
      ],
      [
        {
          question: "Fix the bug.",
          trace:
            "- [chain] agent\n  - [llm] plan\n    output: 1. reproduce 2. fix 3. run tests\n  - [tool] edit\n    output: ok",
        },
        false,
      ],
      [
        {
          question: "Compare three offers.",
          trace:
            "- [chain] agent\n  - [llm] plan\n    output: get A, B and C, then compare\n  - [tool] get\n    input: A\n    output: 10\n  - [tool] get\n    input: B\n    output: 12\n  - [tool] get\n    input: C\n    error: gone\n  - [llm] compare\n    output: C is no longer available; A is cheapest",
        },
        true,
      ],
      [
        {
          question: "Compare three offers.",
          trace:
            "- [chain] agent\n  - [llm] plan\n    output: get A, B and C, then compare\n  - [tool] get\n    input: A\n    output: 10\n  - [llm] compare\n    output: A is cheapest",
        },
        false,
      ],
      [
        {
          question: "Ask for confirmation before you delete.",
          trace: "- [chain] agent\n  - [tool] delete\n    output: deleted\n  - [tool] ask\n    output: confirmed",
        },
        false,
      ],
      [
        {
          question: "Ask for confirmation before you delete.",
          trace: "- [chain] agent\n  - [tool] ask\n    output: confirmed\n  - [tool] delete\n    output: deleted",
        },
        true,
      ],
      [
        {
          question: "Collect the data, then plot it.",
          trace:
            "- [chain] agent\n  - [tool] query\n    output: rows\n  - [tool] query\n    output: rows\n  - [tool] query\n    output: rows\n  - [tool] query\n    output: rows",
        },
        false,
      ],
      [
        {
          question: "What is in stock?",
          trace: "- [chain] agent\n  - [tool] list_stock\n    output: 3 chairs\n  - [llm] answer\n    output: 3 chairs",
        },
        true,
      ],
    ],
  },
  {
    id: "user-frustration",
    name: "User frustration",
    description: "Whether the user grew frustrated with the assistant in a conversation.",
    type: "llm",
    subject: "thread",
    system: `You read a whole conversation and decide whether the user became frustrated with the assistant.
Signs: repeating or rephrasing the same request because it was not met, complaints, sarcasm about the help, capital letters or many exclamation marks in anger, asking for a person, giving up. Annoyance about something else that the assistant helps with is no frustration with the assistant. Neither are corrections in a friendly tone. Judge the end more than the beginning: a user who was satisfied in the end is not frustrated.`,
    variables: { thread: "thread" },
    score: yesNo("user_frustration", "Whether the user became frustrated: true is bad."),
    labels: [
      [{ thread: "user: Where is my parcel?\nassistant: It arrives on Friday.\nuser: Great, thanks!" }, false],
      [
        {
          thread:
            "user: Where is my parcel?\nassistant: We offer many shipping options.\nuser: I asked where MY PARCEL is!!\nassistant: Shipping takes 2 to 4 days.",
        },
        true,
      ],
      [
        {
          thread:
            "user: My washing machine broke AGAIN, I hate it!\nassistant: Sorry. I can send a technician tomorrow at 9.\nuser: Perfect.",
        },
        false,
      ],
      [
        {
          thread:
            "user: Change my flight.\nassistant: I cannot find it.\nuser: The number is AB12.\nassistant: I cannot find it.\nuser: Forget it. I will call someone.",
        },
        true,
      ],
      [
        {
          thread:
            "user: How do I export?\nassistant: File, Export.\nuser: Small correction: it is under Share.\nassistant: Thank you, you are right.\nuser: No problem.",
        },
        false,
      ],
      [
        {
          thread:
            "user: Cancel it.\nassistant: Do you want to upgrade?\nuser: Cancel.\nassistant: Do you want to pause?\nuser: wow. so helpful. a human please",
        },
        true,
      ],
      [{ thread: "user: Hi\nassistant: Hi! How can I help?" }, false],
      [
        {
          thread:
            "user: It does not work.\nassistant: Try to restart.\nuser: I did that already, as I said.\nassistant: Try to restart.\nuser: Are you even reading this?",
        },
        true,
      ],
      [
        {
          thread:
            "user: WHY is this so complicated\nassistant: Let us do it together: open Settings.\nuser: ok found it\nassistant: Now choose Reset.\nuser: it works, you saved my day",
        },
        false,
      ],
      [
        {
          thread:
            "user: Give me the list in alphabetical order.\nassistant: b, a, c\nuser: alphabetical please\nassistant: c, b, a\nuser: no. alphabetical. a first. third time I ask",
        },
        true,
      ],
    ],
  },
];
