import { Tabs, type TabsListProps } from "@mantine/core";
import { useEffect, useRef } from "react";

import classes from "./tab-list.module.css";

/** Tabs of a page in one line; the selected one is scrolled into view. */
export function TabList(props: TabsListProps) {
  const list = useRef<HTMLDivElement>(null);
  const shown = useRef<Element | null>(null);
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>('[aria-selected="true"]') ?? null;
    // once per selection: later scrolling by the reader is kept
    if (!list.current || !chosen || shown.current === chosen) return;
    shown.current = chosen;
    // with the next frame, which lays the page out anyway
    requestAnimationFrame(() => {
      const { current } = list;
      if (current) current.scrollLeft = chosen.offsetLeft - (current.clientWidth - chosen.offsetWidth) / 2;
    });
  });
  return <Tabs.List ref={list} className={classes["list"]!} {...props} />;
}
