/** Joins the names of folders, from the outermost to the innermost. */
const separator = "/";

export const joinPath = (names: readonly string[]): string => names.join(separator);

export const splitPath = (path: string): string[] => path.split(separator);

/** Whether folders can represent the path: no name is empty or has white space at its edges. */
export const isFolderPath = (path: string): boolean =>
  splitPath(path).every((name) => name !== "" && name.trim() === name);
