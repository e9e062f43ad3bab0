import { statSync } from "node:fs";
import { createError } from "../../../errors.js";

/** A connection keeps using the file that it opened after another file takes its path. */
export class FileIdentity {
  private readonly opened: string;

  /** @param path of a file that exists */
  constructor(private readonly path: string) {
    this.opened = identify(path);
  }

  /** @throws store-replaced */
  check(): void {
    let found: string;
    try {
      found = identify(this.path);
    } catch (error) {
      throw createError("store-replaced", { store: this.path }, error);
    }
    if (found !== this.opened) throw createError("store-replaced", { store: this.path });
  }
}

function identify(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
