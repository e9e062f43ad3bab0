import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import type { InPlaceTarget, Sink, SinkFile } from "../plugin/format.js";

/** A folder of its own for tests, removed by `remove`. Test files that share it may each remove it: `path` makes it again. */
export class TemporaryFolder {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));

  path(name: string): string {
    mkdirSync(this.folder, { recursive: true });
    return join(this.folder, name);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A sink that writes straight to the final names; companions stand beside the main file. */
export class TestFolderSink implements Sink {
  private readonly handles: FileHandle[] = [];

  /** @param inPlaceTarget an existing file to change in place */
  constructor(
    readonly name: string,
    readonly inPlaceTarget: InPlaceTarget | null = null,
  ) {}

  async create(extension?: string): Promise<SinkFile> {
    const path = extension === undefined ? this.name : this.companion(extension);
    const handle = await open(path, "w+");
    this.handles.push(handle);
    let size = 0;
    return {
      path,
      get size() {
        return size;
      },
      async write(bytes) {
        await handle.write(bytes, 0, bytes.length, size);
        size += bytes.length;
      },
      async patch(position, bytes) {
        if (position + bytes.length > size) throw new RangeError("a patch lies within what was written before");
        await handle.write(bytes, 0, bytes.length, position);
      },
    };
  }

  private companion(extension: string): string {
    const stem = basename(this.name, extname(this.name));
    return join(dirname(this.name), `${stem}.${extension}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.handles.map((handle) => handle.close()));
  }
}

/** Every file of a folder with its size, time of change and contents, as a text to compare. */
export function folderFingerprint(folder: string): string {
  const lines = readdirSync(folder).map((name) => {
    const path = join(folder, name);
    const { size, mtimeMs } = statSync(path);
    return `${name} ${size} ${mtimeMs} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
  });
  return lines.sort().join("\n");
}

/** The contents of every file of a folder, by name. */
export function folderContents(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder).sort();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}
