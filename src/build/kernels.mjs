/**
 * Compiles the kernels, which are written in AssemblyScript, to WebAssembly: `assembly/NAME.ts` to `compiled/NAME.ts` in
 * each folder of kernels. Run it after a change (`npm run kernels`); a test compares both.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const folders = ["plugins/shared/kernels", "src/statistics/kernels"].map((path) =>
  join(dirname(dirname(import.meta.dirname)), path),
);

/** Kernels export functions; the other files are parts of them. */
const kernels = folders.flatMap((folder) =>
  readdirSync(join(folder, "assembly"))
    .filter((name) => name.endsWith("-kernel.ts"))
    .map((name) => ({ folder, name: basename(name, ".ts") })),
);

/** @returns the path and the text of each compiled file */
export const compileKernels = () => Promise.all(kernels.map(compile));

async function compile({ folder, name }) {
  const files = new Map();
  const { error, stderr } = await asc.main(
    [
      `${name}.ts`,
      "-o",
      "kernel.wasm",
      "-O3",
      "--converge",
      "--noAssert",
      "--use",
      "abort=",
      "--runtime",
      "stub",
      "--enable",
      "simd",
      "--pedantic",
    ],
    {
      readFile: (path) => {
        try {
          // Imports name compiled files, as everywhere.
          return readFileSync(join(folder, "assembly", path.replace(/\.js\.ts$/, ".ts")), "utf8");
        } catch {
          return null;
        }
      },
      writeFile: (path, bytes) => files.set(basename(path), bytes),
      listFiles: () => [],
    },
  );
  if (error) throw new Error(`${name}: ${stderr}`, { cause: error });
  const text = Buffer.from(files.get("kernel.wasm")).toString("base64");
  return {
    path: join(folder, "compiled", `${name}.ts`),
    text: `/** \`../assembly/${name}.ts\`, compiled by \`npm run kernels\`. */\nexport const wasm =\n  "${text}";\n`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of folders) mkdirSync(join(folder, "compiled"), { recursive: true });
  for (const { path, text } of await compileKernels()) writeFileSync(path, text);
}
