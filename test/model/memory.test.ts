import { describe, expect, test } from "vitest";
import { Shape } from "../../plugins/shapefile/shape-types.js";
import { encodeShapes, type OutShape } from "../../plugins/shapefile/shp-encode.js";
import { transferables } from "../../src/model/batch.js";
import { borrow, GeometryBuilder, giveBack } from "../../src/model/index.js";
import { supply } from "../../src/model/memory.js";

const large = 1 << 20;

describe("borrowed memory", () => {
  test("is used again once given back, and not before", () => {
    const first = borrow(large);
    const second = borrow(large);
    expect(second.buffer).not.toBe(first.buffer);
    expect(giveBack(first.buffer)).toBe(true);
    expect(borrow(large - 100).buffer).toBe(first.buffer);
  });

  test("cannot be given back twice, nor can what was not borrowed", () => {
    const bytes = borrow(large);
    expect(giveBack(bytes.buffer)).toBe(true);
    expect(giveBack(bytes.buffer)).toBe(false);
    expect(giveBack(new ArrayBuffer(large))).toBe(false);
  });

  test("goes to another thread instead of being copied, though its view is shorter than it", () => {
    const bytes = borrow(large);
    expect(bytes.byteLength).toBeLessThan(bytes.buffer.byteLength);
    expect(transferables({ bytes })).toEqual([bytes.buffer]);
  });

  test("is found in whatever a thread can be sent", () => {
    const chunks = [borrow(large), borrow(large), borrow(large)] as const;
    const sent = { named: new Map([["a", { bytes: chunks[0] }]]), set: new Set([chunks[1]]), list: [[chunks[2]]] };
    expect(transferables(sent)).toEqual(chunks.map(({ buffer }) => buffer));
  });

  test("waits in no more than 8 MiB", () => {
    const buffers = Array.from({ length: 20 }, () => new ArrayBuffer(large));
    for (const buffer of buffers) supply(buffer);
    const again = new Set(Array.from({ length: 20 }, () => borrow(large).buffer));
    expect(buffers.filter((buffer) => again.has(buffer))).toHaveLength(8);
  });

  test("leaves no trace of its last use in a chunk", () => {
    const builder = new GeometryBuilder();
    for (let i = 0; i < 30_000; i++) {
      if (i % 3 === 0) builder.none();
      else builder.point(i, -i);
    }
    const shape: OutShape = { type: Shape.point, plain: Shape.point, z: false, m: false };
    const geometry = builder.finish();
    const encode = (filler: number) => {
      const dirty = borrow(2 * large);
      dirty.fill(filler);
      giveBack(dirty.buffer);
      const { bytes } = encodeShapes(geometry, shape);
      const copy = Buffer.from(bytes);
      expect(bytes.buffer).toBe(dirty.buffer);
      giveBack(bytes.buffer);
      return copy;
    };
    expect(encode(0xab).equals(encode(0x00))).toBe(true);
  });
});
