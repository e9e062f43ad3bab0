/** How calls of the library end when the caller's streams, callbacks, signals and values fail. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { convert, diff, type FeatureToWrite, inspect, open, write } from "../../src/index.js";
import { samples } from "../support/command.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-library-failures-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const capitals = join(samples, "capitals.geojson");
const own = new Error("no room left");
const fails = (): never => {
  throw own;
};
const aborted = AbortSignal.abort();

describe("an output stream that fails is output-failed, with the error of the stream", () => {
  test.each([
    ["a Node.js stream", () => new Writable({ write: (_chunk, _encoding, done) => done(own) })],
    ["a web stream", () => new WritableStream<Uint8Array>({ write: fails })],
    ["a web stream at its end", () => new WritableStream<Uint8Array>({ close: fails })],
  ])("%s", async (_, create) => {
    await expect(convert({ inputs: capitals, output: create(), to: "csv" })).rejects.toMatchObject({
      code: "output-failed",
      kind: "output",
      message: expect.stringContaining("no room left"),
      cause: own,
    });
  });

  test.each([
    ["a destroyed stream", () => new Writable().destroy()],
    [
      "a locked stream",
      () => {
        const stream = new WritableStream<Uint8Array>();
        stream.getWriter();
        return stream;
      },
    ],
  ])("%s", async (_, create) => {
    await expect(convert({ inputs: capitals, output: create(), to: "csv" })).rejects.toMatchObject({
      code: "output-failed",
    });
  });
});

describe("an aborted call ends with interrupted", () => {
  test("while a Node.js stream does not drain", async () => {
    const control = new AbortController();
    const output = new Writable({ highWaterMark: 1, write: () => control.abort() });
    const call = convert({ inputs: capitals, output, to: "csv" }, { signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: "interrupted" });
    expect(output.destroyed).toBe(true);
  });

  test("while a web stream does not settle a write", async () => {
    const control = new AbortController();
    const output = new WritableStream<Uint8Array>({
      write() {
        control.abort();
        return new Promise(() => {});
      },
    });
    const call = convert({ inputs: capitals, output, to: "csv" }, { signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: "interrupted" });
  });

  test("by the generator of the features", async () => {
    const control = new AbortController();
    function* features() {
      for (let i = 0; i < 5000; i++) {
        if (i === 1000) control.abort();
        yield { type: "Feature" as const, geometry: null, properties: { i } };
      }
    }
    const output = join(folder, "aborted.csv");
    const call = write(features(), output, {}, { signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: "interrupted", name: "GeoferryError" });
    expect(existsSync(output)).toBe(false);
  });

  test("when the generator of the features throws the reason of the signal", async () => {
    const control = new AbortController();
    async function* features(): AsyncGenerator<FeatureToWrite> {
      yield { type: "Feature", geometry: null, properties: {} };
      control.abort();
      control.signal.throwIfAborted();
    }
    const call = write(features(), undefined, { to: "csv" }, { signal: control.signal });
    await expect(call).rejects.toMatchObject({ code: "interrupted", name: "GeoferryError" });
  });

  test.each([
    ["open", () => open(capitals, { signal: aborted })],
    ["convert", () => convert({ inputs: capitals, to: "csv" }, { signal: aborted })],
    ["diff", () => diff({ old: capitals, new: capitals }, { signal: aborted })],
  ])("before it begins: %s", async (_, call) => {
    await expect(call()).rejects.toMatchObject({ code: "interrupted", name: "GeoferryError" });
  });

  test("an AbortError of a generator is its own if the signal is not aborted", async () => {
    const error = new DOMException("mine", "AbortError");
    // biome-ignore lint/correctness/useYield: it fails before the first feature
    async function* features(): AsyncGenerator<FeatureToWrite> {
      throw error;
    }
    await expect(write(features(), undefined, { to: "csv" })).rejects.toBe(error);
  });
});

describe("errors of callbacks are rethrown unchanged", () => {
  test("onProgress", async () => {
    await expect(convert({ inputs: capitals, to: "csv" }, { onProgress: fails })).rejects.toBe(own);
    await expect(inspect({ inputs: [capitals] }, { onProgress: fails }, true)).rejects.toBe(own);
    await using dataset = await open(capitals, { onProgress: fails });
    const iterate = async () => {
      for await (const _ of dataset.layers[0]!);
    };
    await expect(iterate()).rejects.toBe(own);
  });

  test.each([
    ["thrown", fails],
    ["rejected", () => Promise.reject(own)],
  ])("onChange, %s", async (_, onChange) => {
    const sides = { old: join(samples, "parks.geojson"), new: capitals };
    await expect(diff(sides, { onChange })).rejects.toBe(own);
  });
});

test("closing a dataset while a layer is iterated ends the iteration with the reason", async () => {
  const dataset = await open(capitals);
  const iterate = async () => {
    for await (const _ of dataset.layers[0]!) await dataset.close();
  };
  await expect(iterate()).rejects.toMatchObject({ code: "usage", message: expect.stringContaining("is closed") });
});

describe("values of features that JSON does not have", () => {
  const feature = (properties: Record<string, unknown>): FeatureToWrite => ({
    type: "Feature",
    geometry: null,
    properties,
  });
  const written = async (properties: Record<string, unknown>) => {
    const { bytes, losses } = await write([feature(properties)], undefined, { to: "geojsonseq" });
    const { properties: kept } = JSON.parse(Buffer.from(bytes).toString()) as { properties: object };
    return { kept, lost: losses.filter(({ code }) => code === "value-not-json") };
  };

  test.each([
    ["a Map", new Map([[1, 2]])],
    ["a Set", new Set([1])],
    ["a function", () => 1],
    ["a symbol", Symbol("q")],
    ["an invalid date", new Date(Number.NaN)],
    ["a RegExp", /a/],
    ["an Error", own],
  ])("%s becomes null, as a loss", async (_, value) => {
    const { kept, lost } = await written({ value, deep: { list: [value] }, other: 1 });
    expect(kept).toEqual({ value: null, deep: { list: [null] }, other: 1 });
    expect(lost).toMatchObject([
      { layer: "features", field: "value", count: 1 },
      { layer: "features", field: "deep", count: 1 },
    ]);
  });

  test("strict refuses them", async () => {
    const call = write([feature({ value: new Map() })], undefined, { to: "geojsonseq", strict: true });
    await expect(call).rejects.toMatchObject({ code: "lossy" });
  });

  test("bytes are base64, as when they are read; dates and other values with toJSON are what it returns", async () => {
    const { kept, lost } = await written({
      bytes: new Uint8Array([1, 2]),
      buffer: Buffer.from("hi"),
      floats: new Float32Array([0.5, 1]),
      date: new Date(0),
      own: { toJSON: () => ({ a: 1 }) },
      none: undefined,
    });
    expect(kept).toEqual({
      bytes: "AQI=",
      buffer: "aGk=",
      floats: [0.5, 1],
      date: "1970-01-01T00:00:00.000Z",
      own: { a: 1 },
    });
    expect(lost).toEqual([]);
  });

  test("a value that contains itself is an error that names the field", async () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    await expect(written({ circle })).rejects.toMatchObject({
      name: "GeoferryError",
      code: "usage",
      message: expect.stringContaining('"circle"'),
    });
  });
});
