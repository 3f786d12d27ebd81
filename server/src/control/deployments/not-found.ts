import { type AppError, notFound } from "../../base/errors.ts";

/** Messages of LangSmith's control plane, also for unknown revisions. */
export const unknownDeployment = (id: string): AppError => notFound(`Deployment ID ${id} not found.`);
export const unknownRevision = (deploymentId: string, id: string): AppError =>
  notFound(`Revision ID ${id} of Deployment ID ${deploymentId} not found.`);
