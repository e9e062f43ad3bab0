import { createError } from "../errors.js";
import type { Format } from "../plugin/format.js";
import { type CheckOptions, createSubject } from "./check-subject.js";
import { checkDamage } from "./checks/damage.js";
import { checkDeclaration } from "./checks/declaration.js";
import { checkEncoding } from "./checks/encoding.js";
import { checkIdentification } from "./checks/identification.js";
import { checkReading } from "./checks/reading.js";
import { checkRoundTrip } from "./checks/round-trip.js";

/**
 * Declares one test for each thing that the host relies on in a format: what it says of itself, `identify`, writing and
 * reading back, splits, pure encoding, and how it stands damage. Every test fails with an AssertionError that says
 * which promise was broken, with an example.
 *
 * ```js
 * import { test } from "node:test";
 * import { checkFormat } from "geoferry/testing";
 * import wkt from "./index.js";
 *
 * checkFormat(wkt, { test, samples: [{ path: "places.wkt", layers: [{ features: 3 }] }] });
 * ```
 * @throws plugin-invalid if there is nothing to read: a reader without a writer and without samples
 */
export function checkFormat(format: Format, options: CheckOptions): void {
  const subject = createSubject(format, options);
  if (format.reader && !format.writer && subject.samples.length === 0) {
    throw createError("plugin-invalid", {
      plugin: format.id,
      reason: "a format that only reads needs samples to be checked",
    });
  }
  checkDeclaration(subject);
  checkIdentification(subject);
  checkRoundTrip(subject);
  checkReading(subject);
  checkEncoding(subject);
  checkDamage(subject);
}
