import type { Source, SourceFile } from "../plugin/format.js";

/** Calls `look` at every read, and knows which of the files that a reader opened it has not closed. */
export class SourceMonitor {
  private readonly open = new Map<object, string>();

  constructor(private readonly check: () => void = () => {}) {}

  /** Names of the files that are still open. */
  stillOpen(): string[] {
    return [...this.open.values()];
  }

  /** The same source, watched; its siblings are, too. */
  watch(source: Source): Source {
    const { entries } = source;
    return {
      name: source.name,
      path: source.path,
      size: source.size,
      findSibling: (extension) => {
        const sibling = source.findSibling(extension);
        return sibling && this.watch(sibling);
      },
      ...(entries && { entries: { ...entries, getSource: (path) => this.watch(entries.getSource(path)) } }),
      open: async () => this.watchFile(await source.open(), source.name),
    };
  }

  private watchFile(file: SourceFile, name: string): SourceFile {
    const key = {};
    this.open.set(key, name);
    const close = async () => {
      if (!this.open.delete(key)) return;
      await file.close();
    };
    return {
      size: file.size,
      read: (position, length) => {
        this.check();
        return file.read(position, length);
      },
      close,
      [Symbol.asyncDispose]: close,
    };
  }
}
