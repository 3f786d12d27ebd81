import { Box, Code, Flex, Group, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";

import { Empty } from "../../ui/empty.tsx";
import { Filters } from "../../ui/filters.tsx";
import { AnchorLink } from "../../ui/links.tsx";
import { LoadedList } from "../../ui/load-state.tsx";
import { NewButton } from "../../ui/new-button.tsx";
import { Page } from "../../ui/page.tsx";
import { SimpleTable } from "../../ui/simple-table.tsx";
import { TimeText } from "../../ui/time-text.tsx";
import { ItemDetails } from "./item-details.tsx";
import { ItemForm } from "./item-form.tsx";
import { NamespaceTree } from "./namespace-tree.tsx";
import { type Item, type ItemSearch, itemsQuery } from "./queries.ts";
import { StoreSample } from "../samples/sample-parts.tsx";

const route = getRouteApi("/_shell/a/$server/store");

/** Long-term memory of graphs: namespaces on one side, the items of the selected one on the other. */
export function StorePage() {
  const { server } = route.useParams();
  const { ns = [], in: within, key, query, filter } = route.useSearch();
  const navigate = route.useNavigate();
  const [isCreating, setCreating] = useState(false);
  const open = (item: { namespace: string[]; key: string } | null) =>
    void navigate({ search: (before) => ({ ...before, in: item?.namespace, key: item?.key }) });
  return (
    <Page title="Store" actions={<NewButton onClick={() => setCreating(true)}>New item</NewButton>}>
      <Flex gap="md" direction={{ base: "column", md: "row" }} align="stretch">
        <Box w={{ base: "100%", md: 260 }} mah={{ base: 220, md: "none" }} style={{ overflow: "auto", flex: "none" }}>
          <NamespaceTree
            server={server}
            chosen={ns}
            onChoose={(namespace) =>
              void navigate({ search: (before) => ({ ...before, ns: namespace.length > 0 ? namespace : undefined }) })
            }
          />
        </Box>
        <Box style={{ flex: 1, minWidth: 0 }}>
          <Items server={server} search={{ namespace: ns, query, filter }} />
        </Box>
      </Flex>
      {within !== undefined && key !== undefined && (
        <ItemDetails server={server} namespace={within} itemKey={key} onClose={() => open(null)} />
      )}
      {isCreating && (
        <ItemForm
          server={server}
          namespace={ns}
          onClose={() => setCreating(false)}
          onSaved={(saved) => {
            setCreating(false);
            open(saved);
          }}
        />
      )}
    </Page>
  );
}

function Items({ server, search }: { server: string; search: ItemSearch }) {
  const list = useInfiniteQuery(itemsQuery(server, search));
  const rows = list.data?.pages.flat() ?? [];
  const isFiltered = search.query !== undefined || search.filter !== undefined;
  return (
    <>
      <Search search={search} />
      <LoadedList
        query={list}
        list={rows}
        empty={
          <Empty title={isFiltered ? "No matching items" : "No items yet"}>
            <Text size="sm">
              {isFiltered ? (
                "Try another search, or search all namespaces."
              ) : (
                <>
                  Graphs write items through <Code>config.store</Code>. Add one yourself with “New item”.
                </>
              )}
            </Text>
            {!isFiltered && <StoreSample server={server} />}
          </Empty>
        }
      >
        <SimpleTable
          label="Items"
          rows={rows}
          rowKey={({ namespace, key }) => JSON.stringify([namespace, key])}
          columns={columns(
            server,
            rows.some(({ score }) => score !== undefined),
          )}
          minWidth={620}
          pages={list}
        />
      </LoadedList>
    </>
  );
}

function Search({ search }: { search: ItemSearch }) {
  const navigate = route.useNavigate();
  const [query, setQuery] = useState(search.query ?? "");
  const [filter, setFilter] = useState(search.filter ?? "");
  const filterError = filter.trim() === "" || isObject(filter) ? null : 'An object, such as {"kind": "note"}';
  const apply = useDebouncedCallback(
    (next: { query?: string | undefined; filter?: string | undefined }) =>
      void navigate({ search: (before) => ({ ...before, ...next }), replace: true }),
    400,
  );
  return (
    <Group gap="xs" mb="sm" align="start">
      <TextInput
        aria-label="Semantic search"
        placeholder="Semantic search"
        size="xs"
        leftSection={<IconSearch size={14} aria-hidden />}
        value={query}
        onChange={(event) => {
          const text = event.currentTarget.value;
          setQuery(text);
          apply({ query: text.trim() === "" ? undefined : text });
        }}
        style={{ flex: "1 1 14rem" }}
        maw={360}
      />
      <Filters active={filter === "" ? 0 : 1}>
        <TextInput
          aria-label="Filter by value"
          placeholder='Filter: {"kind": "note"}'
          size="xs"
          value={filter}
          error={filterError}
          onChange={(event) => {
            const text = event.currentTarget.value;
            setFilter(text);
            if (text.trim() === "") apply({ filter: undefined });
            else if (isObject(text)) apply({ filter: text });
          }}
          style={{ flex: "1 1 14rem" }}
          maw={360}
          ff="monospace"
        />
      </Filters>
    </Group>
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const columns = (server: string, hasScores: boolean) => [
  {
    title: "Key",
    cell: ({ namespace, key }: Item) => (
      <AnchorLink
        to="/a/$server/store"
        params={{ server }}
        search={(before: object) => ({ ...before, in: namespace, key })}
        size="sm"
      >
        {key}
      </AnchorLink>
    ),
    width: "22%",
  },
  {
    title: "Namespace",
    cell: ({ namespace }: Item) => (
      <Text size="sm" c="dimmed">
        {namespace.join(" › ")}
      </Text>
    ),
    width: "22%",
  },
  {
    title: "Value",
    cell: ({ value }: Item) => (
      <Text size="xs" ff="monospace" lineClamp={2}>
        {JSON.stringify(value)?.slice(0, 300)}
      </Text>
    ),
  },
  ...(hasScores
    ? [
        {
          title: "Similarity",
          cell: ({ score }: Item) => (
            <Text size="sm" className="numbers">
              {score?.toFixed(3)}
            </Text>
          ),
          width: 80,
          align: "right" as const,
        },
      ]
    : []),
  { title: "Updated", cell: ({ updated_at: at }: Item) => <TimeText at={at} />, width: 100 },
];
