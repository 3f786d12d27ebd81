/** Archives are larger than any other body, and have a limit of their own. */
export const isUpload = (path: string): boolean => /^(\/api-host)?\/uploads\//.test(path);
