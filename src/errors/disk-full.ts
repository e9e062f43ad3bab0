/** Whether an error code of the system or of SQLite means that the disk or the user's quota is full. */
export const isDiskFull = (code: unknown): boolean => code === "ENOSPC" || code === "EDQUOT" || code === "SQLITE_FULL";
