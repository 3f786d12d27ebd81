import { Badge, Button, Group } from "@mantine/core";
import { IconBooks, IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";

import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, counted, percent } from "../../ui/format.ts";
import { AnchorLink, ButtonLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { Page } from "../../ui/page.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { type Agreement, agreementQuery, type Evaluator, evaluatorsQuery } from "./queries.ts";

const LibraryDialog = lazy(async () => ({ default: (await import("./library-dialog.tsx")).LibraryDialog }));

const columns = (agreements: Map<string, Agreement> | undefined): Column<Evaluator>[] => [
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
  { id: "type", header: "Type", width: "70px", cell: ({ type }) => (type === "llm" ? "Judge" : "Code") },
  { id: "subject", header: "Judges", width: "70px", cell: ({ subject }) => subject },
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
    cell: ({ run_rules: rules }) => <Clipped text={rules.map((rule) => rule.display_name).join(", ")} />,
  },
  { id: "judgements", header: "Judgements", width: "100px", align: "right", cell: (row) => count(row.judgements) },
  {
    id: "agreement",
    header: "Agreement",
    width: "130px",
    cell: ({ id }) => <AgreementCell evaluatorId={id} agreement={agreements?.get(id)} />,
  },
  {
    id: "errors",
    header: "Errors",
    width: "70px",
    align: "right",
    cell: (row) => (row.errors === 0 ? "–" : count(row.errors)),
  },
  { id: "spend", header: "Spent", width: "80px", align: "right", cell: (row) => usd(row.spend_usd) },
  { id: "updated_at", header: "Updated", width: "100px", cell: (row) => <TimeText at={row.updated_at} /> },
];

/** Agreement of the newest version with people, of several keys the least, linked to what it is computed from. */
function AgreementCell({ evaluatorId, agreement }: { evaluatorId: string; agreement: Agreement | undefined }) {
  if (!agreement) return null;
  const describe = ({ feedback_key: key, accuracy, kappa, items }: Agreement["keys"][number]) =>
    `${key}: ${percent(accuracy ?? 0)} of ${counted(items, "label")}${kappa === null ? "" : `, kappa ${kappa.toFixed(2)}`}`;
  const [least] = agreement.keys.toSorted((a, b) => (a.accuracy ?? 0) - (b.accuracy ?? 0));
  const text = least
    ? `${percent(least.accuracy ?? 0)}${least.kappa === null ? "" : ` · κ ${least.kappa.toFixed(2)}`} · ${count(least.items)}`
    : "No labels";
  const title = least ? agreement.keys.map(describe).join("; ") : "No run has a judgement and a person's label";
  return (
    <AnchorLink
      to="/evaluators/$evaluatorId"
      params={{ evaluatorId }}
      search={{ tab: "alignment" }}
      size="sm"
      className="numbers"
      title={title}
    >
      {text}
    </AnchorLink>
  );
}

export const usd = (amount: number): string =>
  amount === 0 ? "–" : `$${amount < 1 ? amount.toPrecision(2) : amount.toFixed(2)}`;

/** List of evaluators. */
export function EvaluatorsPage() {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const found = useInfiniteQuery(evaluatorsQuery(text));
  const evaluators = useMemo(() => found.data?.pages.flatMap((page) => page.evaluators) ?? [], [found.data]);
  const agreements = useQuery(agreementQuery(text, found.data?.pages.length ?? 0)).data;
  const shown = useMemo(() => columns(agreements), [agreements]);
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
      <Group mb="sm">
        <SearchField label="Search evaluators by name" placeholder="Search by name" initial="" onSearch={setText} />
      </Group>
      <LoadedList
        query={found}
        rows={8}
        list={evaluators}
        empty={
          <Empty title={text === "" ? "No evaluators yet" : "No matching evaluators"}>
            An evaluator scores runs, by a model or by code. Start from the library, or write one, and try it on real
            runs before you save it.
          </Empty>
        }
      >
        <DataTable
          label="Evaluators"
          columns={shown}
          rows={evaluators}
          rowKey={({ id }) => id}
          onOpen={({ id }) => void open(id)}
          pages={found}
        />
      </LoadedList>
      {isOpen && (
        <Suspense>
          <LibraryDialog onCreated={open} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Page>
  );
}
