/** Whether a code of the operating system means that the disk is full, or what a user may have of it. */
export const isDiskFull = (code: unknown): boolean => code === "ENOSPC" || code === "EDQUOT";
