/** The name of a file without its folders and extension. */
export function fileStem(path: string): string {
  const file = path.split(/[/\\]/).at(-1)!;
  return file.replace(/\.[^.]*$/, "") || file;
}
