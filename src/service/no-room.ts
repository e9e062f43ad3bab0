/** Codes of the operating system: no room is left on the disk, or in what a user may have of it. */
export const isNoRoom = (code: unknown): boolean => code === "ENOSPC" || code === "EDQUOT";
