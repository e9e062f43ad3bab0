import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { GeoferryError } from "../../errors.js";
import type { Format } from "../../plugin/format.js";
import { type CheckSubject, capabilitiesOf, withTemporaryFolder } from "../check-subject.js";
import { Random } from "../random.js";
import { readFile } from "../read-file.js";
import { sampleBatch } from "../sample-layer.js";
import { Watchdog } from "../watchdog.js";
import { writeFile } from "../write-file.js";
import { copyWithCompanions } from "./reading.js";

type DamageBytes = (bytes: Buffer, random: Random) => Buffer;

const randomRange = (bytes: Buffer, random: Random): [from: number, to: number] => {
  const from = random.below(bytes.length);
  return [from, Math.min(bytes.length, from + 1 + random.below(64))];
};

const overwriteWith =
  (byte: number): DamageBytes =>
  (bytes, random) =>
    Buffer.from(bytes).fill(byte, ...randomRange(bytes, random));

/** What disks, transfers and programs do to files. */
const damageKinds: Readonly<Record<string, DamageBytes>> = {
  "cut off": (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  "cut off near its start": (bytes, random) => bytes.subarray(0, random.below(Math.min(bytes.length, 120))),
  "cut off by a byte": (bytes) => bytes.subarray(0, -1),
  "one byte changed": (bytes, random) => {
    const changed = Buffer.from(bytes);
    changed[random.below(bytes.length)] = random.below(256);
    return changed;
  },
  "one bit flipped near its start": (bytes, random) => {
    const changed = Buffer.from(bytes);
    const at = random.below(Math.min(bytes.length, 160));
    changed[at] = changed[at]! ^ (1 << random.below(8));
    return changed;
  },
  "eight bytes changed": (bytes, random) => {
    const changed = Buffer.from(bytes);
    for (let n = 0; n < 8; n++) changed[random.below(bytes.length)] = random.below(256);
    return changed;
  },
  "a block of zeros": overwriteWith(0),
  "a block of 0xFF": overwriteWith(0xff),
  "a block lost": (bytes, random) => {
    const [from, to] = randomRange(bytes, random);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  "a block twice": (bytes, random) => {
    const [from, to] = randomRange(bytes, random);
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  },
  "junk at its end": (bytes, random) =>
    Buffer.concat([bytes, Buffer.from(Array.from({ length: 50 }, () => random.below(256)))]),
};

/** Larger files are not damaged: each copy is read twice. */
const maxDamagedBytes = 1 << 18;

/** How many features and positions there may sensibly be for each byte of the input; compressed ones may have more. */
const limits = { featuresPerByte: 4, memory: 1 << 29 } as const;

/** Whether a damaged file is read, or refused with a sentence; never anything else. */
export function checkDamage(subject: CheckSubject): void {
  const { format, check, samples, readerOptions } = subject;
  if (!format.reader) return;
  if (format.writer) {
    check("reads damaged files or refuses them in words", async () => {
      const accepts = capabilitiesOf(subject);
      await withTemporaryFolder(async (scratch) => {
        const whole = scratch.path("whole");
        mkdirSync(whole);
        const batch = sampleBatch({
          features: 60,
          types: accepts.geometryTypes,
          dimensions: accepts.z ? "xyz" : "xy",
          fieldTypes: accepts.fieldTypes,
          nulls: accepts.nullGeometry,
          seed: subject.seed,
        });
        const written = await writeFile(format, whole, batch, { options: subject.writerOptions });
        const mutations = Math.ceil(subject.mutations / written.length);
        for (const { path } of written) {
          await checkDamagedFiles(
            { ...subject, mutations },
            path,
            readerOptions,
            scratch.path(`damaged-${basename(path)}`),
          );
        }
      });
    });
  }
  for (const { path, options } of samples) {
    if (statSync(path).size > maxDamagedBytes) continue;
    check(`reads damaged copies of ${basename(path)} or refuses them in words`, async () => {
      await withTemporaryFolder(async (scratch) => {
        const copy = copyWithCompanions(path, scratch.path("whole"));
        await checkDamagedFiles(subject, copy, { ...readerOptions, ...options }, scratch.path("damaged"));
      });
    });
  }
}

async function checkDamagedFiles(
  subject: CheckSubject,
  main: string,
  options: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  const random = new Random(subject.seed);
  const watchdog = new Watchdog(subject.timeLimit);
  const names = Object.keys(damageKinds);
  const stem = basename(main).slice(0, basename(main).indexOf(".") + 1);
  const set = readdirSync(dirname(main)).filter((name) => name.startsWith(stem));
  mkdirSync(folder);
  for (const name of set) cpSync(join(dirname(main), name), join(folder, name));
  try {
    for (const name of set) {
      const intact = readFileSync(join(dirname(main), name));
      for (let n = 0; n < subject.mutations; n++) {
        // The last two: empty, and not there.
        const kind = names[n % names.length]!;
        const isGone = n === subject.mutations - 1 && name !== basename(main);
        const isEmpty = n === subject.mutations - 2 || intact.length === 0;
        if (isGone) rmSync(join(folder, name));
        else writeFileSync(join(folder, name), isEmpty ? "" : damageKinds[kind]!(intact, random));
        const what = `${name}, ${isGone ? "missing" : kind} (damage ${n}, seed ${subject.seed})`;
        for (const skipErrors of [false, true]) {
          const how = `reading ${what}${skipErrors ? " with skipErrors" : ""}`;
          const path = join(folder, basename(main));
          await watchdog.guard(how, () => readsOrRefuses(subject.format, path, options, skipErrors, how));
        }
      }
      writeFileSync(join(folder, name), intact);
    }
  } finally {
    watchdog.stop();
  }
}

async function readsOrRefuses(
  format: Format,
  path: string,
  options: Readonly<Record<string, string>>,
  skipErrors: boolean,
  what: string,
): Promise<void> {
  const bytes = readdirSync(dirname(path)).reduce((sum, name) => sum + statSync(join(dirname(path), name)).size, 0);
  const limit = 1000 + bytes * limits.featuresPerByte;
  const start = residentBytes();
  const onDataset = () => {
    const used = residentBytes() - start;
    assert.ok(used < limits.memory, `${what} takes ${Math.round(used / 2 ** 20)} MiB of memory for ${bytes} bytes`);
  };
  let features = 0;
  const onBatch = ({ length }: { readonly length: number }) => {
    features += length;
    assert.ok(features <= limit, `${what} gives more than ${limit} features of ${bytes} bytes`);
    onDataset();
  };
  try {
    await readFile(format, path, {
      options,
      skipErrors,
      bySplits: true,
      discard: true,
      onBatch,
      onDataset,
    });
  } catch (error) {
    if (error instanceof assert.AssertionError) {
      assert.fail(error.message.startsWith(what) ? error.message : `${what}: ${error.message}`);
    }
    const isTold = error instanceof GeoferryError && (error.kind === "input" || error.kind === "unsupported");
    if (!isTold) {
      const kind =
        error instanceof GeoferryError ? `GeoferryError "${error.code}"` : "an error that is no GeoferryError";
      assert.fail(
        `${what} ended with ${kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
    }
    const names = error.code.startsWith("input-") ? error.message.includes(basename(path).split(".")[0]!) : true;
    assert.ok(names, `${what} ended with a message that does not name the file: ${error.message}`);
  }
}

function residentBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
