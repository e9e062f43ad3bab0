import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { GeoferryError } from "../../src/errors.js";
import { convertFile } from "../support/host.js";
import { createRandom } from "../support/random.js";
import type { TemporaryFolder } from "../support/read-layers.js";

const mutations = 200;

/**
 * Converts 200 damaged copies of a document, and checks that each is read, or refused with an error of the input, and that
 * nothing is left beside the output.
 * @param special the bytes that damage is made with
 * @returns the number of copies that were converted
 */
export async function convertDamaged(
  intact: Buffer,
  special: Buffer,
  scratch: TemporaryFolder,
  name: string,
  options: Omit<Parameters<typeof convertFile>[2], "overwrite">,
): Promise<number> {
  const random = createRandom(31);
  const path = scratch.path(name);
  let complete = 0;
  for (let n = 0; n < mutations; n++) {
    const output = scratch.path("output.geojsonl");
    writeFileSync(path, damage(intact, n, random, special));
    try {
      await convertFile(path, output, { allowEmpty: true, overwrite: true, skipErrors: n % 3 === 0, ...options });
      complete++;
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.code === "internal")
        throw new Error(`mutation ${n}`, { cause: error });
      const kinds = ["input", "unsupported", "rejected", "usage", "guard"];
      expect(kinds, `mutation ${n}: ${error.message}`).toContain(error.kind);
    }
  }
  expect(existsSync(scratch.path("output.geojsonl"))).toBe(true);
  const left = readdirSync(scratch.folder).filter((each) => each !== name && each !== "output.geojsonl");
  expect(left).toEqual([]);
  return complete;
}

/** Cuts, removes or repeats a part, or changes a few bytes. */
function damage(intact: Buffer, n: number, random: () => number, special: Buffer): Buffer {
  const start = Math.floor(random() * intact.length);
  if (n % 10 === 0) return intact.subarray(0, start);
  if (n % 10 === 1) return Buffer.concat([intact.subarray(0, start), intact.subarray(start + 5)]);
  if (n % 10 === 2) return Buffer.concat([intact.subarray(0, start), intact.subarray(Math.max(0, start - 40))]);
  const bytes = Buffer.from(intact);
  for (let k = 0; k < 1 + (n % 3); k++)
    bytes[Math.floor(random() * bytes.length)] = special[Math.floor(random() * special.length)]!;
  return bytes;
}
