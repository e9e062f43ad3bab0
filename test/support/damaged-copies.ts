import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { GeoferryError } from "../../src/errors.js";
import type { ConvertRequest } from "../../src/pipeline/request.js";
import { convertFile } from "./host.js";
import { createRandom } from "./random.js";
import type { TemporaryFolder } from "./read-layers.js";

export interface DamagedCopies {
  readonly intact: Buffer;
  /** Of the copies, without the dot. */
  readonly extension: string;
  readonly count: number;
  readonly seed: number;
  /** A byte of the part that locates the others: header, index or table of contents. @param n number of the copy */
  readonly pickByte: (length: number, random: () => number, n: number) => number;
  /** The bytes that copies get, such as the signs of a text format; any by default. */
  readonly values?: Buffer;
  /** More of the request for copy `n`. */
  readonly request?: (n: number) => Partial<ConvertRequest>;
}

/**
 * Converts copies that are cut, lack bytes or have other ones: each ends with a good output or an error of the input, and
 * no part of an output stays.
 * @returns the number of good outputs
 */
export async function convertDamagedCopies(
  scratch: TemporaryFolder,
  { intact, extension, count, seed, pickByte, values, request = () => ({}) }: DamagedCopies,
): Promise<number> {
  const random = createRandom(seed);
  const before = readdirSync(scratch.folder).length;
  const [path, output] = [scratch.path(`damaged.${extension}`), scratch.path("output.geojson")];
  const pickValue = () => (values ? values[Math.floor(random() * values.length)]! : Math.floor(random() * 256));
  let complete = 0;
  for (let n = 0; n < count; n++) {
    let bytes = Buffer.from(intact);
    const start = Math.floor(random() * bytes.length);
    if (n % 10 === 0) bytes = bytes.subarray(0, start);
    else if (n % 10 === 1) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 5)]);
    else if (n % 10 < 6) for (let k = 0; k < 1 + (n % 4); k++) bytes[Math.floor(random() * bytes.length)] = pickValue();
    else bytes[pickByte(bytes.length, random, n)] = pickValue();
    writeFileSync(path, bytes);
    try {
      await convertFile(path, output, {
        overwrite: true,
        skipErrors: n % 3 === 0,
        reproject: n % 2 === 0 ? false : undefined,
        ...request(n),
      });
      complete++;
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.code === "internal")
        throw new Error(`mutation ${n}`, { cause: error });
      expect(["input", "unsupported", "rejected", "usage", "guard"], `mutation ${n}: ${error.message}`).toContain(
        error.kind,
      );
    }
  }
  // The damaged copy, and an output that was complete.
  expect(readdirSync(scratch.folder).length - before).toBeLessThanOrEqual(existsSync(output) ? 2 : 1);
  return complete;
}
