import { type AppError, notFound } from "../../base/errors.ts";

/** The words of contract control-plane §1.2; of a revision that there is not, too. */
export const unknownDeployment = (id: string): AppError => notFound(`Deployment ID ${id} not found.`);
export const unknownRevision = (deploymentId: string, id: string): AppError =>
  notFound(`Revision ID ${id} of Deployment ID ${deploymentId} not found.`);
