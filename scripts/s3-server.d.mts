/** Path of the program, whether it was built or not. */
export const S3_SERVER: string;
export function buildS3Server(): boolean;
