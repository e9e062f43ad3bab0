import { describe, expect, test } from "vitest";
import { rename } from "../../../src/io/output/rename.js";
import { avoidDeviceName, windowsNameProblem } from "../../../src/io/output/windows-names.js";
import { safeName } from "../../../src/io/safe-name.js";

// Microsoft, "Naming Files, Paths, and Namespaces".
describe("windowsNameProblem", () => {
  test.each([
    ["CON.csv", "CON is the name of a device on Windows"],
    ["out\\aux.geojson", "aux is the name of a device on Windows"],
    ["out/lpt1", "lpt1 is the name of a device on Windows"],
    ["nul.tar.gz", "nul is the name of a device on Windows"],
    ["COM²", "COM² is the name of a device on Windows"],
    ["con/roads.csv", "con is the name of a device on Windows"],
    ["a:b.csv", 'a name on Windows cannot contain ":"'],
    ["C:\\data\\what?.csv", 'a name on Windows cannot contain "?"'],
    ["roads\t.csv", 'a name on Windows cannot contain "\\t"'],
    ["roads.", 'Windows drops the dot at the end of "roads."'],
    ["roads /a.csv", 'Windows drops the blank at the end of "roads "'],
  ])("the name %s is rejected on Windows", (path, problem) => {
    // "a:" alone is a drive.
    expect(windowsNameProblem(path.startsWith("a:") ? `out/${path}` : path)).toBe(problem);
  });

  test.each([
    "C:\\data\\roads.csv",
    "C:roads.csv",
    "..\\roads.csv",
    "./roads.csv",
    "\\\\server\\share\\roads.csv",
    "\\\\?\\C:\\data\\roads.csv",
    "console.csv",
    "com10.csv",
    "Straße, Größe (1).csv",
    ".hidden",
  ])("the name %s is accepted on Windows", (path) => {
    expect(windowsNameProblem(path)).toBeNull();
  });
});

test("a downloaded file never gets the name of a Windows device", () => {
  expect(avoidDeviceName("aux.geojson")).toBe("_aux.geojson");
  expect(safeName("https://example.org/nul.csv")).toBe("_nul.csv");
  expect(safeName("roads.csv")).toBe("roads.csv");
});

describe("rename", () => {
  const failing = (code: string, failures: number) => {
    const calls: string[] = [];
    const renameFile = async (from: string, to: string) => {
      calls.push(`${from} ${to}`);
      if (calls.length <= failures) throw Object.assign(new Error(code), { code });
    };
    return { calls, renameFile: renameFile as typeof import("node:fs/promises").rename };
  };

  test.each(["EPERM", "EBUSY", "EACCES"])(
    "rename is retried on Windows while %s reports an open file",
    async (code) => {
      const { calls, renameFile } = failing(code, 2);
      await rename("a", "b", { platform: "win32", renameFile });
      expect(calls).toEqual(["a b", "a b", "a b"]);
    },
  );

  test("rename is not retried for other errors or on other systems", async () => {
    const missing = failing("ENOENT", 1);
    await expect(rename("a", "b", { platform: "win32", renameFile: missing.renameFile })).rejects.toThrow("ENOENT");
    expect(missing.calls).toHaveLength(1);
    const denied = failing("EPERM", 1);
    await expect(rename("a", "b", { platform: "linux", renameFile: denied.renameFile })).rejects.toThrow("EPERM");
    expect(denied.calls).toHaveLength(1);
  });
});
