/** Tables of very many columns: what they cost follows their size, and limits of the target come first. */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { main } from "../support/command.js";
import { converted } from "../support/host.js";
import { Scratch } from "../support/recording.js";

const scratch = new Scratch();
afterAll(() => scratch.remove());

/** The greatest memory of a process, in MB. */
function memoryOf(args: readonly string[]): number {
  const tell =
    "data:text/javascript,process.on('exit',()=>process.stdout.write('rss '+process.resourceUsage().maxRSS))";
  const { stdout } = spawnSync(process.execPath, ["--import", tell, ...args], { encoding: "utf8" });
  return Number(/rss (\d+)/.exec(stdout)![1]) / 1024;
}

const bare = memoryOf(["-e", "0"]);
const wide = scratch.path("wide.csv");
// 20,003 columns in 20 KB: none has a name.
writeFileSync(wide, `${",".repeat(20_002)}\n1\n`);

describe("20,003 columns", () => {
  test.each(["geojson", "csv"])("take less than 150 MB more than Node itself (.%s)", (extension) => {
    const output = scratch.path(`wide-out.${extension}`);
    expect(memoryOf([main, "convert", wide, output]) - bare).toBeLessThan(150);
    expect(existsSync(output)).toBe(true);
  });

  test("have one note of their names", async () => {
    const { notices } = await converted(wide, scratch.path("told.geojson"), {});
    expect(notices.filter(({ code }) => code === "name-missing")).toMatchObject([{ count: 20_003 }]);
  });

  test.each([
    ["shp", 2046],
    ["gpkg", 1998],
  ])("are too many for a .%s before any row is read", async (extension, most) => {
    // A quote that is never closed would be the error of whatever reads the rows.
    const damaged = scratch.path("damaged.csv");
    writeFileSync(damaged, [`${"a,".repeat(20_002)}\n1\n`.padEnd(2 << 20, "1\n"), '"'].join(""));
    await expect(converted(damaged, scratch.path(`wide-out.${extension}`), {})).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(`at most ${most} fields, and there are 20003`),
    });
  });
});
