/**
 * Paths of folders, from the outermost to the innermost, separated by slashes. A slash in a name has a backslash before it:
 * `A\/B` is one folder, `A/B` are two.
 */
const separator = "/";
const escapedSeparator = "\\/";

export const joinPath = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll(separator, escapedSeparator)).join(separator);

/** Adds a folder to a path. */
export const appendName = (path: string, name: string): string =>
  path === "" ? joinPath([name]) : `${path}${separator}${joinPath([name])}`;

export const splitPath = (path: string): string[] =>
  path.split(/(?<!\\)\//).map((name) => name.replaceAll(escapedSeparator, separator));

/** Whether folders can represent the path: no name is empty or has white space at its edges. */
export const isFolderPath = (path: string): boolean =>
  splitPath(path).every((name) => name !== "" && name.trim() === name);
