import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Bundles sources given by their paths without extension: a file each, and what they share. */
const bundle = `
  import { rolldown } from "rolldown";
  const [root, folder, ...names] = process.argv.slice(1);
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, root + "/" + name + ".ts"])),
    platform: "node",
    // Packages are imported from node_modules, except what the bundler adds for \`using\`.
    external: /^(?!@oxc-project)[^./\\0]/,
    transform: { target: "node20.19" },
    resolve: { extensionAlias: { ".js": [".ts"] } },
    treeshake: false,
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" });
`;

/** The sources as JavaScript, in few files that load quickly, for processes that a test starts and kills. */
export class CompiledSources {
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-compiled-"));

  constructor(files: readonly string[]) {
    const root = resolve(import.meta.dirname, "../..");
    writeFileSync(join(this.folder, "package.json"), '{"type":"module"}');
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
    const names = files.map((file) => file.replace(/\.ts$/, ""));
    const options = ["--input-type=module", "--eval", bundle, root, this.folder, ...names];
    execFileSync(process.execPath, options, { cwd: root, stdio: "inherit" });
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
