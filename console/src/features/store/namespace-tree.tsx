import { ActionIcon, Box, Group, Loader, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconFolder } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { Problem } from "../../ui/problem.tsx";
import { childrenQuery, LEVEL_LIMIT } from "./queries.ts";

interface TreeProps {
  server: string;
  chosen: string[];
  onChoose: (namespace: string[]) => void;
}

/** Tree of namespaces; each level is loaded when it is expanded. */
export function NamespaceTree(props: TreeProps) {
  return (
    <Box component="nav" aria-label="Namespaces">
      <Row {...props} namespace={[]} label="All namespaces" />
      <Level {...props} prefix={[]} />
    </Box>
  );
}

function Level({ prefix, ...props }: TreeProps & { prefix: string[] }) {
  const { data: labels, error, refetch } = useQuery(childrenQuery(props.server, prefix));
  if (error && !labels) return <Problem error={error} onRetry={refetch} />;
  if (!labels) return <Loader size="xs" m="xs" role="img" aria-label="Loading" />;
  return (
    <ul style={{ listStyle: "none", margin: 0, paddingInlineStart: prefix.length === 0 ? 0 : 14 }}>
      {labels.map((label) => (
        <Branch key={label} {...props} namespace={[...prefix, label]} />
      ))}
      {labels.length >= LEVEL_LIMIT && (
        <Text size="xs" c="dimmed" p={4}>
          Only the first {LEVEL_LIMIT} shown.
        </Text>
      )}
    </ul>
  );
}

function Branch({ namespace, ...props }: TreeProps & { namespace: string[] }) {
  const isOnTheWay =
    props.chosen.length > namespace.length && namespace.every((label, at) => props.chosen[at] === label);
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const isShown = isOpen ?? isOnTheWay;
  return (
    <li>
      <Row
        {...props}
        namespace={namespace}
        label={namespace.at(-1)!}
        isOpen={isShown}
        onToggle={() => setOpen(!isShown)}
      />
      {isShown && <Level {...props} prefix={namespace} />}
    </li>
  );
}

interface RowProps extends TreeProps {
  namespace: string[];
  label: string;
  isOpen?: boolean;
  onToggle?: () => void;
}

function Row({ namespace, label, chosen, onChoose, isOpen, onToggle }: RowProps) {
  const isChosen = chosen.length === namespace.length && namespace.every((part, at) => chosen[at] === part);
  return (
    <Group gap={2} wrap="nowrap" mih={30}>
      {onToggle ? (
        <ActionIcon
          size="sm"
          variant="subtle"
          color="neutral"
          onClick={onToggle}
          aria-label={`${isOpen ? "Collapse" : "Expand"} ${label}`}
          aria-expanded={isOpen}
        >
          {isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        </ActionIcon>
      ) : (
        <Box w={22} />
      )}
      <UnstyledButton
        onClick={() => onChoose(namespace)}
        aria-current={isChosen || undefined}
        px={6}
        py={3}
        style={{
          flex: 1,
          minWidth: 0,
          borderRadius: 4,
          background: isChosen ? "var(--heddle-selection-quiet)" : undefined,
        }}
      >
        <Group gap={6} wrap="nowrap">
          <IconFolder size={14} aria-hidden style={{ flex: "none" }} />
          <Text size="sm" fw={isChosen ? 600 : 400} style={{ overflowWrap: "anywhere" }}>
            {label}
          </Text>
        </Group>
      </UnstyledButton>
    </Group>
  );
}
