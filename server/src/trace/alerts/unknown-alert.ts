import { type AppError, notFound } from "../../base/errors.ts";

export const unknownAlert = (id: string): AppError => notFound(`Alert rule ${id} not found.`);
