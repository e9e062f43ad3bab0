/** Whether an error code of the system means that the disk or the user's quota is full. */
export const isDiskFull = (code: unknown): boolean => code === "ENOSPC" || code === "EDQUOT";
