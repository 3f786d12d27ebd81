import { Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconGitBranch } from "@tabler/icons-react";

import { counted } from "../../ui/format.ts";
import { asMessages, messageText } from "../../ui/messages/message.ts";
import classes from "./branch-heading.module.css";
import type { Branch } from "./history-tree.ts";
import type { State } from "./queries.ts";
import { describeStep } from "./steps.ts";

/** Colour of a branch's line; the newest one's is that of its messages. */
export const branchColor = (number: number): string => `var(--heddle-series-${((number - 1) % 8) + 1})`;

interface BranchHeadingProps {
  branch: Branch;
  isOpen: boolean;
  onToggle: () => void;
}

/** Names a branch by what was said last in it, and opens and closes it. */
export function BranchHeading({ branch, isOpen, onToggle }: BranchHeadingProps) {
  const { number, size, newest, origin } = branch;
  const from = origin ? describeStep(origin, undefined).number : null;
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <UnstyledButton
      className={classes["heading"]}
      aria-expanded={isOpen}
      aria-label={`Branch ${number}`}
      onClick={onToggle}
    >
      <Chevron size={14} aria-hidden />
      <IconGitBranch size={14} color={branchColor(number)} aria-hidden />
      <Text size="sm" fw={600} style={{ whiteSpace: "nowrap" }}>
        Branch {number}
      </Text>
      <Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
        {counted(size, "step")}
        {from !== null && (from < 0 ? ", from the start" : `, from step ${from}`)}
      </Text>
      <Text size="xs" c="dimmed" truncate dir="auto">
        {lastWords(newest)}
      </Text>
    </UnstyledButton>
  );
}

function lastWords({ values }: State): string {
  for (const value of Object.values(values ?? {})) {
    const message = asMessages(value)?.findLast((candidate) => messageText(candidate) !== "");
    if (message) return messageText(message).slice(0, 120);
  }
  return "";
}
