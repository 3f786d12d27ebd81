import type { ComponentType, ReactNode } from "react";

import { BranchHeading } from "./branch-heading.tsx";
import type { TreeRow } from "./history-tree.ts";
import type { Branches } from "./use-branches.ts";

interface BranchLinesProps {
  branches: Branches;
  /** Frame of a line, beside the line of its branch. */
  frame: ComponentType<{ depth: number; number: number; children: ReactNode }>;
  /** Draws a state. */
  children: (row: TreeRow) => ReactNode;
}

/** The lines of a thread's tree: headings of its branches, and the states of those that are open. */
export const BranchLines = ({ branches, frame: Frame, children }: BranchLinesProps) =>
  branches.lines.map(({ branch, row }) =>
    branch ? (
      <Frame key={`branch ${branch.id}`} depth={branch.depth} number={branch.number}>
        <BranchHeading
          branch={branch}
          isOpen={branches.isOpen(branch.id)}
          onToggle={() => branches.toggle(branch.id)}
        />
      </Frame>
    ) : (
      <Frame
        key={row.state.checkpoint?.checkpoint_id ?? "none"}
        depth={row.depth}
        number={branches.numbers.get(row.branch)!}
      >
        {children(row)}
      </Frame>
    ),
  );
