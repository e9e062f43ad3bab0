import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The sources as JavaScript, for processes that a test starts and kills. */
export class CompiledSources {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-compiled-"));

  constructor(files: readonly string[]) {
    const root = resolve(import.meta.dirname, "../..");
    const config = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        noEmit: false,
        noCheck: true,
        rootDir: root,
        outDir: this.folder,
        typeRoots: [join(root, "node_modules/@types")],
      },
      files: files.map((file) => join(root, file)),
      include: [],
    };
    writeFileSync(join(this.folder, "tsconfig.json"), JSON.stringify(config));
    writeFileSync(join(this.folder, "package.json"), '{"type":"module"}');
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", this.folder], {
      stdio: "inherit",
    });
  }

  url(file: string): string {
    return pathToFileURL(join(this.folder, file)).href;
  }

  /** Writes a module beside the sources. */
  script(name: string, code: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, code);
    return path;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
