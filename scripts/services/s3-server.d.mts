/** Path of the program, whether or not it is built. */
export const S3_SERVER: string;
export function buildS3Server(): boolean;
