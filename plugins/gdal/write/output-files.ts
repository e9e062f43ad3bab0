/** Moves GDAL's output from a temporary folder to the sink. */
import { copyFile, readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { createError, type Sink } from "../../../src/plugin/index.js";

/** Renames, or copies across file systems. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await copyFile(from, to);
    await rm(from);
  }
}

/** Moves the main file and files with the same stem to the sink. @throws output-failed */
export async function moveFilesToSink(folder: string, main: string, sink: Sink): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.map(({ name }) => name);
  const stem = main.slice(0, main.lastIndexOf("."));
  if (entries.some((entry) => entry.isDirectory())) {
    const reason =
      "GDAL writes a folder, but the output name is that of a file; for OpenFileGDB use the extension .gdb";
    throw createError("output-failed", { output: sink.name, reason });
  }
  if (!names.includes(main))
    throw createError("output-failed", { output: sink.name, reason: `GDAL did not write ${main}` });
  for (const name of [main, ...names.filter((other) => other !== main)]) {
    if (!name.startsWith(`${stem}.`)) {
      throw createError("output-failed", {
        output: sink.name,
        reason: `GDAL wrote an unexpected file, ${name}`,
      });
    }
    const file = await sink.create(name === main ? undefined : name.slice(stem.length + 1));
    if (file.path === null) throw createError("internal", { reason: `${sink.name} has no path` });
    try {
      await moveFile(join(folder, name), file.path);
    } catch (error) {
      // The system names the file that is copied first, although the disk of the copy is the full one.
      const [reason] = (error as Error).message.split(", ", 1) as [string];
      throw createError("output-failed", { output: sink.name, reason }, error);
    }
  }
}

/** Moves files up from the inner folder, which GDAL requires to have the format's extension. */
export async function moveFolderToSink(folder: string, inner: string): Promise<void> {
  const made = join(folder, inner);
  for (const name of await readdir(made)) await rename(join(made, name), join(folder, name));
  await rmdir(made);
}
