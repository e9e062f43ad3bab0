/** Puts what GDAL wrote into a folder of its own where the host wants it. */
import { copyFile, readdir, rename, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { createError, type Sink } from "../../../src/plugin/index.js";

/** In one step where both are on one disk. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await copyFile(from, to);
    await rm(from);
  }
}

/** The main file and those of its stem become the file of the sink and its companions. @throws output-failed */
export async function moveFilesToSink(folder: string, main: string, sink: Sink): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.map(({ name }) => name);
  const stem = main.slice(0, main.lastIndexOf("."));
  if (entries.some((entry) => entry.isDirectory())) {
    const reason =
      "GDAL makes a folder of it, and the name of the output is that of a file (of OpenFileGDB give it .gdb)";
    throw createError("output-failed", { output: sink.name, reason });
  }
  if (!names.includes(main))
    throw createError("output-failed", { output: sink.name, reason: `GDAL made no file ${main}` });
  for (const name of [main, ...names.filter((other) => other !== main)]) {
    if (!name.startsWith(`${stem}.`)) {
      throw createError("output-failed", {
        output: sink.name,
        reason: `GDAL made a file ${name} that is none of its parts`,
      });
    }
    const file = await sink.create(name === main ? undefined : name.slice(stem.length + 1));
    if (file.path === null) throw createError("internal", { reason: `${sink.name} has no path to put a file at` });
    await moveFile(join(folder, name), file.path);
  }
}

/** GDAL wants the extension of a folder in its name: it stands in the one of the sink, whose files it has. */
export async function moveFolderToSink(folder: string, inner: string): Promise<void> {
  const made = join(folder, inner);
  for (const name of await readdir(made)) await rename(join(made, name), join(folder, name));
  await rmdir(made);
}
