import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { quoteForShell } from "../src/errors/shell-quote.js";
import { escapeControlCharacters } from "../src/escape-control-characters.js";

test.each([
  "roads.shp",
  "Straßen, Öst=[m].csv",
  "~/roads.shp",
  "it's",
  "a b\\n$HOME`date`",
  "first line\nsecond's \\ line\t\u001b[31m",
  "right\u202eleft",
  "",
])("the shell reads %j as it was, also when shown to people", (text) => {
  const shown = escapeControlCharacters(quoteForShell(text));
  // Dash and other shells before POSIX.1-2024 do not know all of these escapes.
  const { stdout } = spawnSync("bash", ["-c", `printf '%s' ${shown}`], { encoding: "utf8" });
  expect(stdout).toBe(text);
});
