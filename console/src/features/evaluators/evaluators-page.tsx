import { Badge, Button, Group, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconBooks, IconPlus, IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";

import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { type Evaluator, evaluatorsQuery } from "./queries.ts";

const LibraryDialog = lazy(async () => ({ default: (await import("./library-dialog.tsx")).LibraryDialog }));

const COLUMNS: Column<Evaluator>[] = [
  {
    id: "name",
    header: "Name",
    width: "minmax(180px, 1.4fr)",
    cell: ({ id, name }) => (
      <AnchorLink to="/evaluators/$evaluatorId" params={{ evaluatorId: id }} size="sm" truncate>
        {name}
      </AnchorLink>
    ),
  },
  { id: "type", header: "Type", width: "90px", cell: ({ type }) => (type === "llm" ? "Judge" : "Code") },
  { id: "subject", header: "Judges", width: "90px", cell: ({ subject }) => subject },
  {
    id: "keys",
    header: "Feedback keys",
    width: "minmax(140px, 1fr)",
    cell: ({ feedback_keys: keys }) => (
      <Group gap={4} wrap="nowrap">
        {keys.map((key) => (
          <Badge key={key} size="sm" variant="light" tt="none">
            {key}
          </Badge>
        ))}
      </Group>
    ),
  },
  {
    id: "rules",
    header: "Rules",
    width: "minmax(80px, 1fr)",
    cell: ({ run_rules: rules }) => (
      <Text size="sm" truncate title={rules.map((rule) => rule.display_name).join(", ")}>
        {rules.length === 0 ? "–" : rules.map((rule) => rule.display_name).join(", ")}
      </Text>
    ),
  },
  { id: "judgements", header: "Judgements", width: "110px", align: "right", cell: (row) => count(row.judgements) },
  {
    id: "errors",
    header: "Errors",
    width: "80px",
    align: "right",
    cell: (row) => (row.errors === 0 ? "–" : count(row.errors)),
  },
  { id: "spend", header: "Spent", width: "100px", align: "right", cell: (row) => usd(row.spend_usd) },
  { id: "updated_at", header: "Updated", width: "110px", cell: (row) => <TimeText at={row.updated_at} /> },
];

export const usd = (amount: number): string =>
  amount === 0 ? "–" : `$${amount < 1 ? amount.toPrecision(2) : amount.toFixed(2)}`;

/** List of evaluators. */
export function EvaluatorsPage() {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const search = useDebouncedCallback(setText, 250);
  const found = useInfiniteQuery(evaluatorsQuery(text));
  const evaluators = useMemo(() => found.data?.pages.flatMap((page) => page.evaluators) ?? [], [found.data]);
  const open = (evaluatorId: string) => navigate({ to: "/evaluators/$evaluatorId", params: { evaluatorId } });
  return (
    <Page
      title="Evaluators"
      actions={
        <>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconBooks size={14} aria-hidden />}
            onClick={() => setOpen(true)}
          >
            Library
          </Button>
          <ButtonLink to="/evaluators/new" size="xs" leftSection={<IconPlus size={14} aria-hidden />}>
            New evaluator
          </ButtonLink>
        </>
      }
    >
      <TextInput
        aria-label="Search evaluators by name"
        placeholder="Search by name"
        leftSection={<IconSearch size={14} aria-hidden />}
        size="xs"
        mb="sm"
        w={{ base: "100%", xs: 260 }}
        onChange={({ currentTarget: { value } }) => search(value)}
      />
      {found.error ? (
        <Problem error={found.error} onRetry={found.refetch} />
      ) : found.isPending ? (
        <Loading rows={8} />
      ) : evaluators.length === 0 ? (
        <Empty title={text === "" ? "No evaluators yet" : "No matching evaluators"}>
          <Text size="sm" maw={520}>
            An evaluator scores runs, by a model or by code. Start from the library, or write one, and try it on real
            runs before you save it.
          </Text>
        </Empty>
      ) : (
        <DataTable
          label="Evaluators"
          columns={COLUMNS}
          rows={evaluators}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void open(id)}
          onEnd={() => void (found.hasNextPage && !found.isFetchingNextPage && found.fetchNextPage())}
        />
      )}
      {isOpen && (
        <Suspense>
          <LibraryDialog onCreated={open} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Page>
  );
}
