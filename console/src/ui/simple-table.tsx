import { Table, Text } from "@mantine/core";
import type { CSSProperties, ReactNode } from "react";

import { NextPage, type Pages } from "./next-page.tsx";
import classes from "./simple-table.module.css";

export interface SimpleColumn<T> {
  title: string;
  cell: (row: T) => ReactNode;
  /** CSS width; the other columns share the remaining space. */
  width?: number | string;
  align?: "right";
}

interface SimpleTableProps<T> {
  /** Label for screen readers. */
  label: string;
  columns: SimpleColumn<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  /** Width in px below which it scrolls sideways; below 620 each row is a card instead. */
  minWidth?: number;
  /** Further pages of the rows, loaded by a button. */
  pages?: Pages;
}

/** Table for up to some hundred rows. ARIA roles keep rows and cells recognizable when they are shown as cards. */
export function SimpleTable<T>({ label, columns, rows, rowKey, minWidth = 700, pages }: SimpleTableProps<T>) {
  return (
    <>
      <div className={classes["scroll"]} tabIndex={0} role="region" aria-label={label}>
        <Table
          highlightOnHover
          layout="fixed"
          aria-label={label}
          className={classes["table"]}
          style={{ "--table-width": `${minWidth}px` } as CSSProperties}
        >
          <Table.Thead>
            <Table.Tr>
              {columns.map(({ title, width, align }) => (
                <Table.Th key={title} w={width} ta={align === "right" ? "end" : align}>
                  <Text span size="xs" c="dimmed" fw={600}>
                    {title}
                  </Text>
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={rowKey(row)} role="row">
                {columns.map(({ title, cell, align }) => (
                  <Table.Td
                    key={title}
                    ta={align === "right" ? "end" : align}
                    data-title={title}
                    role="cell"
                    style={{ overflowWrap: "anywhere" }}
                  >
                    <div className={classes["content"]}>{align === "right" ? <bdi>{cell(row)}</bdi> : cell(row)}</div>
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      <NextPage pages={pages} label="Show more" />
    </>
  );
}
