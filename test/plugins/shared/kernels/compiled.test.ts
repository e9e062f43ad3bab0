/** The kernels in the repository are those of their sources. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { compileKernels } from "../../../../src/build/kernels.mjs";

const kernels = await compileKernels();

test.each(kernels)("$path is what its source is compiled to (npm run kernels)", ({ path, text }) => {
  expect(readFileSync(path, "utf8") === text, `${basename(path)} is older than its source`).toBe(true);
});
