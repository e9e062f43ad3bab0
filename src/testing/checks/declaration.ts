import assert from "node:assert/strict";
import { GeoferryError } from "../../errors.js";
import { fieldTypes } from "../../model/field.js";
import { geometryTypes } from "../../model/geometry.js";
import type { WriterCapabilities } from "../../plugin/format.js";
import { type OptionSpec, type OptionTable, parseOptions } from "../../plugin/options.js";
import { validateFormat } from "../../plugin/validate-format.js";
import type { CheckSubject } from "../check-subject.js";

/** What the format says of itself: its shape, its options, what its writer accepts. */
export function checkDeclaration({ format, check }: CheckSubject): void {
  check("declares itself as the contract asks", async () => {
    assert.equal(validateFormat(format), null);
    assert.equal(new Set(format.extensions).size, format.extensions.length, "an extension is there twice");
    if (format.writer) assert.ok(format.extensions.length > 0, "outputs get the first extension: a writer needs one");
    for (const companion of format.companionExtensions ?? []) {
      assert.ok(companion !== format.extensions[0], `"${companion}" is what outputs are called: it is not a companion`);
    }
  });

  check("loads its halves when asked", async () => {
    if (format.reader) {
      const reader = await format.reader.load();
      assert.equal(typeof reader.open, "function", "the reader's module has no open()");
    }
    if (format.writer) {
      const writer = await format.writer.load();
      assert.equal(typeof writer.createEncoder, "function", "the writer's module has no encoder()");
      assert.equal(typeof writer.createAssembler, "function", "the writer's module has no assembler()");
    }
  });

  for (const half of ["reader", "writer"] as const) {
    const table = format[half]?.options;
    if (table) check(`has ${half} options that explain themselves`, async () => checkOptionTable(format.id, table));
  }

  const { writer } = format;
  if (!writer) return;
  check("accepts what can be accepted, with every choice of its options", async () => {
    checkCapabilities(writer.capabilities(parseOptions(format.id, writer.options, {})));
    for (const [name, spec] of Object.entries(writer.options)) {
      for (const text of optionValues(spec)) {
        checkCapabilities(writer.capabilities(parseOptions(format.id, writer.options, { [name]: text })));
      }
    }
  });
}

const optionValues = (spec: OptionSpec): readonly string[] =>
  spec.type === "choice" ? spec.choices : spec.type === "boolean" ? ["yes", "no"] : [];

function checkOptionTable(id: string, table: OptionTable): void {
  for (const [name, spec] of Object.entries(table)) {
    assert.match(name, /^[a-z][A-Za-z0-9]*$/, `option ${name}: a name is in camelCase, so that it has one kebab-case`);
    assert.ok(spec.help.trim().length >= 8, `option ${name}: its help does not say much: "${spec.help}"`);
    if (spec.default === undefined) continue;
    const text = Array.isArray(spec.default) ? spec.default.join(",") : String(spec.default);
    const values: Readonly<Record<string, unknown>> = parseOptions(id, table, { [name]: text });
    assert.deepEqual(values[name], spec.default, `option ${name}: its default is not a value that it takes`);
  }
  const unknown = "no-such-option";
  assert.throws(
    () => parseOptions(id, table, { [unknown]: "1" }),
    (error) => error instanceof GeoferryError && error.code === "option-unknown",
    "an option that the table does not have must be refused",
  );
}

function checkCapabilities(accepts: WriterCapabilities): void {
  const { families, fieldNames } = accepts;
  const oneOf = (value: unknown, choices: readonly unknown[], member: string) =>
    assert.ok(choices.includes(value), `capabilities.${member} is ${String(value)}, not one of ${choices.join(", ")}`);
  oneOf(accepts.crs, ["any", "wgs84"], "crs");
  oneOf(accepts.layers, ["one", "many"], "layers");
  oneOf(accepts.requiredScan, ["nothing", "summary", "extent"], "requiredScan");
  for (const member of ["nullGeometry", "z", "m", "supportsStreaming"] as const)
    oneOf(accepts[member], [true, false], member);
  for (const type of accepts.geometryTypes) oneOf(type, geometryTypes.slice(1), "geometryTypes");
  for (const type of accepts.fieldTypes) oneOf(type, fieldTypes, "fieldTypes");
  assert.ok(accepts.geometryTypes.length > 0 || accepts.nullGeometry, "accepts neither a geometry nor none");
  assert.ok(
    accepts.fieldTypes.includes("text"),
    "capabilities.fieldTypes must have text, which other types are cast to",
  );
  const { ids } = accepts;
  const idField = typeof ids === "object" ? ids.fallbackField : ids;
  assert.ok(idField === true || (typeof idField === "string" && idField !== ""), "capabilities.ids is a name or true");
  if (typeof ids === "object") for (const type of ids.types) oneOf(type, fieldTypes, "ids.types");
  if (fieldNames?.maxBytes !== undefined) {
    assert.ok(
      Number.isInteger(fieldNames.maxBytes) && fieldNames.maxBytes >= 4,
      "capabilities.fieldNames.maxBytes is too small",
    );
  }
  if (!families) return;
  assert.equal(
    new Set(families.map((family) => family.suffix)).size,
    families.length,
    "two families have the same name",
  );
  for (const { suffix } of families)
    assert.match(suffix, /^[a-z0-9-]+$/, `family "${suffix}": it becomes part of a file's name`);
  const held = families.flatMap((family) => family.types);
  assert.equal(new Set(held).size, held.length, "a geometry type is in two families");
  assert.deepEqual(
    [...held].sort(),
    [...accepts.geometryTypes].sort(),
    "the families must cover capabilities.geometryTypes",
  );
}
