import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSink, type HostSink } from "../../../src/io/output/create-sink.js";
import { OutputSet } from "../../../src/io/output/output-set.js";
import { commitAll } from "../../../src/io/output/publish-outputs.js";
import { temporaryPath } from "../../../src/io/output/temporary-names.js";
import { TemporaryFolder } from "../../support/read-layers.js";

let scratch: TemporaryFolder;
beforeEach(() => {
  scratch = new TemporaryFolder();
});
afterEach(() => scratch.remove());

const companions = ["shx", "dbf", "prj"];
const extensions = ["shp", ...companions];

const setOf = (content: string) => Object.fromEntries(extensions.map((extension) => [`o.${extension}`, content]));

/** Everything in the folder, hidden files too. */
const found = () =>
  Object.fromEntries(
    readdirSync(scratch.folder)
      .sort()
      .map((name) => [name, readFileSync(scratch.path(name), "utf8")]),
  );

const put = (files: Readonly<Record<string, string>>) => {
  for (const [name, content] of Object.entries(files)) writeFileSync(scratch.path(name), content);
};

async function written(content: string, overwrite = true): Promise<OutputSet> {
  const outputs = new OutputSet();
  const sink = await outputs.create(scratch.path("o.shp"), { overwrite, companions });
  for (const extension of [undefined, ...companions]) await (await sink.create(extension)).write(Buffer.from(content));
  return outputs;
}

/** Does something between the look at what is there and the first name that is given, as another process would. */
function meanwhile(act: () => void): HostSink {
  const nothing = async () => {};
  const files = () => {
    act();
    return null;
  };
  const rest = { prepare: nothing, commit: nothing, abort: nothing, published() {}, [Symbol.asyncDispose]: nothing };
  return { name: "", inPlaceTarget: null, isStream: false, create: () => Promise.reject(new Error()), files, ...rest };
}

async function committed(content: string, act: () => void): Promise<string> {
  const sink = await createSink(scratch.path("o.shp"), { overwrite: true, companions });
  for (const extension of [undefined, ...companions]) await (await sink.create(extension)).write(Buffer.from(content));
  return commitAll([sink, meanwhile(act)]).then(
    () => "done",
    (error: { code: string }) => error.code,
  );
}

describe("of two runs that write one set at once", () => {
  test("of two runs that create one set, the second keeps the set of the first", async () => {
    expect(await committed("second", () => put(setOf("first")))).toBe("output-failed");
    expect(found()).toEqual(setOf("first"));
  });

  test("of two runs that create one file, the second keeps the file of the first, and removes its own", async () => {
    expect(await committed("second", () => put({ "o.prj": "first" }))).toBe("output-failed");
    expect(found()).toEqual({ "o.prj": "first" });
  });

  test("the second run restores the old set when an unexpected file appears", async () => {
    put({ "o.shp": "old", "o.dbf": "old" });
    expect(await committed("second", () => put({ "o.prj": "first" }))).toBe("output-failed");
    expect(found()).toEqual({ "o.shp": "old", "o.dbf": "old", "o.prj": "first" });
  });

  test("the second run changes nothing while the first has moved the main file aside", async () => {
    put(setOf("old"));
    const aside = temporaryPath(scratch.path("o.shp"), `00000000-${process.pid}-00000000-00000000`, "main.old");
    expect(await committed("second", () => renameSync(scratch.path("o.shp"), aside))).toBe("output-failed");
    const { "o.shp": main, ...others } = setOf("old");
    expect(found()).toEqual({ [aside.slice(scratch.folder.length + 1)]: main, ...others });
  });

  test("of two runs that write one set at once, one has a complete set, in any order of steps", async () => {
    for (let round = 0; round < 40; round++) {
      put(round % 2 === 0 ? setOf("old") : {});
      const runs = await Promise.all([written("A"), written("B")]);
      const ends = await Promise.allSettled(
        runs.map(async (run, n) => {
          for (let wait = (n === 0 ? round : 40 - round) % 13; wait > 0; wait--) await new Promise(setImmediate);
          await run.commit();
        }),
      );
      const winners = ["A", "B"].filter((_, n) => ends[n]!.status === "fulfilled");
      expect([...winners, ...(winners.length === 0 ? ["old"] : [])].map(setOf)).toContainEqual(found());
      for (const name of Object.keys(found())) rmSync(scratch.path(name));
    }
  });
});
