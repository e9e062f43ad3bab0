import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeFolders } from "../src/make-folders.js";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "folders-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("makeFolders creates missing parents and returns the topmost one", () => {
  const folder = temporaryFolder();
  expect(makeFolders(join(folder, "a/b/c"))).toBe(join(folder, "a"));
  expect(existsSync(join(folder, "a/b/c"))).toBe(true);
  expect(makeFolders(join(folder, "a/b/c"))).toBeNull();
});

test("makeFolders reports a file where a folder is needed", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  expect(() => makeFolders(join(folder, "file"))).toThrow(/EEXIST/);
  expect(() => makeFolders(join(folder, "file/below"))).toThrow(/EEXIST|ENOTDIR/);
});

test("makeFolders follows a link to a folder and reports a dangling one", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "target"));
  symlinkSync("target", join(folder, "link"));
  symlinkSync("nowhere", join(folder, "dangling"));
  expect(makeFolders(join(folder, "link/below"))).toBe(join(folder, "link/below"));
  expect(existsSync(join(folder, "target/below"))).toBe(true);
  expect(() => makeFolders(join(folder, "dangling/below"))).toThrow(/EEXIST/);
});

test.skipIf(process.platform !== "linux")("makeFolders ends where the system refuses new folders with ENOENT", () => {
  expect(() => makeFolders("/proc/nope/below")).toThrow(/ENOENT/);
});
