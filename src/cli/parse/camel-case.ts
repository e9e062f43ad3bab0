/** The name of a flag in the arguments of a command: `targetCrs` for `--target-crs`. */
export const camelCase = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
